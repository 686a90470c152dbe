{{- define "cephbench.name" -}}
{{- printf "%s" (ternary .Release.Name (printf "%s-cephbench" .Release.Name) (contains "cephbench" .Release.Name)) | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "cephbench.labels" -}}
app.kubernetes.io/name: cephbench
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "cephbench.selector" -}}
app.kubernetes.io/name: cephbench
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "cephbench.image" -}}
{{ .image.repository }}:{{ .image.tag | default .default }}
{{- end -}}
