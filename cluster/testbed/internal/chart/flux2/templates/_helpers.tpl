{{- /*
SPDX-FileCopyrightText: 2026 The KubeOpera Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}

{{- /* The labels of every object, as YAML. */ -}}
{{- define "flux2.labels" -}}
app.kubernetes.io/instance: {{ .Release.Namespace | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
app.kubernetes.io/part-of: flux
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end -}}

{{- /* The values of each controller that is to be made, by its name, as YAML. */ -}}
{{- define "flux2.controllers" -}}
{{- $all := dict "source-controller" .Values.sourceController "kustomize-controller" .Values.kustomizeController -}}
{{- range $name, $values := $all }}
{{- if not $values.create }}
{{- $_ := unset $all $name }}
{{- end }}
{{- end }}
{{- toYaml $all -}}
{{- end -}}
