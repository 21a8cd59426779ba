module testbed.kubeopera.io/pause

go 1.26.0
