{{- define "belay.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains "belay" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-belay" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "belay.selectorLabels" -}}
app.kubernetes.io/name: belay
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "belay.labels" -}}
{{ include "belay.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "belay.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (ternary (include "belay.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{- define "belay.claimName" -}}
{{- .Values.server.persistence.existingClaim | default (printf "%s-data" (include "belay.fullname" .)) -}}
{{- end -}}

{{/* A probe of whether the process lives: without a handler, or with its own. */}}
{{- define "belay.liveness" -}}
{{- if not (or .httpGet .tcpSocket .exec .grpc) }}
httpGet:
  path: /health/live
  port: http
{{- end }}
{{ toYaml . }}
{{- end -}}

{{/* The settings of the server, as YAML: those of the chart, then the operator’s own, which win. */}}
{{- define "belay.env" -}}
{{- $server := .Values.server -}}
{{- $sandboxes := .Values.sandboxes -}}
{{- $service := include "belay.fullname" . -}}
{{- $name := printf "%s.%s" $service .Release.Namespace -}}
{{- $hosts := list $service $name (printf "%s.svc" $name) -}}
{{- $env := dict
  "BELAY_ENGINE" "kubernetes"
  "BELAY_NAMESPACE" $sandboxes.namespace.name
  "BELAY_AGENT_URL" (printf "wss://%s-agents.%s.svc:%v" $service .Release.Namespace .Values.agentPort)
  "BELAY_IMAGE" $sandboxes.image
  "BELAY_RUNTIME_IMAGE" $sandboxes.runtimeImage
  "BELAY_FILES_MB" $sandboxes.filesMb
  "BELAY_PORT" 4600
  "BELAY_DATA" "/var/lib/belay/data"
  "HOME" "/var/lib/belay/home"
  "XDG_RUNTIME_DIR" "/tmp/run"
-}}
{{- with $sandboxes.storageClass }}{{ $_ := set $env "BELAY_STORAGE_CLASS" . }}{{ end -}}
{{- with $sandboxes.runtimeClassName }}{{ $_ := set $env "BELAY_RUNTIME_CLASS" . }}{{ end -}}
{{- $scheduling := dict -}}
{{- range $key := list "nodeSelector" "tolerations" "priorityClassName" -}}
{{- with index $sandboxes $key }}{{ $_ := set $scheduling $key . }}{{ end -}}
{{- end -}}
{{- with $scheduling }}{{ $_ := set $env "BELAY_POD_SCHEDULING" (toJson .) }}{{ end -}}
{{- if $sandboxes.agentSandbox }}{{ $_ := set $env "BELAY_AGENT_SANDBOX" true }}{{ end -}}
{{- with $server.storage }}{{ $_ := set $env "BELAY_STORAGE" . }}{{ end -}}
{{- with $server.closedNetworks }}{{ $_ := set $env "BELAY_CLOSED_NETWORKS" (join "," .) }}{{ end -}}
{{- if $server.ingress.enabled -}}
{{- $hosts = append $hosts $server.ingress.host -}}
{{- $_ := set $env "BELAY_PUBLIC_URL" (printf "%s://%s" (ternary "https" "http" (ne $server.ingress.tlsSecret "")) $server.ingress.host) -}}
{{- with $server.ingress.previewHost }}{{ $_ := set $env "BELAY_PREVIEW_HOST" . }}{{ end -}}
{{- end -}}
{{- $_ := set $env "BELAY_ALLOWED_HOSTS" (join "," $hosts) -}}
{{- if $server.metrics.enabled -}}
{{- $_ := set $env "OTEL_METRICS_EXPORTER" "prometheus" -}}
{{- $_ := set $env "OTEL_EXPORTER_PROMETHEUS_HOST" "0.0.0.0" -}}
{{- $_ := set $env "OTEL_EXPORTER_PROMETHEUS_PORT" $server.metrics.port -}}
{{- end -}}
{{- range $name, $value := mergeOverwrite $env $server.env }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- end -}}
