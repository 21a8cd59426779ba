module testbed.kubeopera.io/fake-app-advisor

go 1.26.0
