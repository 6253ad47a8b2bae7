"""What kwok plays on the nodes and pods of a test cluster.

A pod runs for sandbox.federator.dev/run-seconds (3 when absent), then ends with
sandbox.federator.dev/exit-code (0 when absent). The container's id holds the moment of its start,
so that a change to the pod while it runs does not start the time again. A deleted pod that runs is
first killed, as a kubelet does, after sandbox.federator.dev/stop-seconds (0 when absent).
Finalizers stay: who set one must take it away.
"""
import json

RUN_SECONDS = "sandbox.federator.dev/run-seconds"
EXIT_CODE = "sandbox.federator.dev/exit-code"
STOP_SECONDS = "sandbox.federator.dev/stop-seconds"

EXIT_CODE_OR_0 = f'(.metadata.annotations // {{}})["{EXIT_CODE}"] // "0"'

END_OF_RUN = f"""
((.metadata.annotations // {{}})["{RUN_SECONDS}"] // "3" | tonumber) as $run
| .status.containerStatuses[0].containerID
| capture("^kwok://(?<second>[^.Z]+)(?<fraction>[.0-9]*)Z$")
| ((.second + "Z" | fromdate) + ("0" + .fraction | tonumber) + $run)
| (floor | todate | rtrimstr("Z"))
  + "." + ((. - floor) * 1000 + 1000 | floor | tostring | .[1:]) + "Z"
"""

NODE_READY = """
{{ $now := Now }}
phase: Running
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
addresses:
- {type: InternalIP, address: {{ NodeIP | Quote }}}
- {type: Hostname, address: {{ .metadata.name | Quote }}}
daemonEndpoints: {kubeletEndpoint: {Port: {{ NodePort }}}}
"""

POD_READY = """
{{ $now := Now }}
phase: Running
startTime: {{ $now | Quote }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName (or .spec.hostNetwork false) .metadata.uid .metadata.name
          .metadata.namespace | Quote }}
conditions:
{{ range $type := list "PodScheduled" "Initialized" "ContainersReady" "Ready" }}
- {type: {{ $type }}, status: "True", lastTransitionTime: {{ $now | Quote }}}
{{ end }}
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  restartCount: 0
  {{ if eq (or .restartPolicy "") "Always" }}
  started: true
  state: {running: {startedAt: {{ $now | Quote }}}}
  {{ else }}
  state:
    terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }},
                 finishedAt: {{ $now | Quote }}}
  {{ end }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  containerID: {{ printf "kwok://%s" $now | Quote }}
  ready: true
  started: true
  restartCount: 0
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ end }}
"""

POD_RESTARTED = """
{{ $now := Now }}
{{ $code := EXIT }}
containerStatuses:
{{ range .status.containerStatuses }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  containerID: {{ printf "kwok://%s" $now | Quote }}
  ready: true
  started: true
  restartCount: {{ add1 .restartCount }}
  state: {running: {startedAt: {{ $now | Quote }}}}
  lastState:
    terminated: {exitCode: {{ $code }}, reason: {{ eq $code "0" | ternary "Completed" "Error" }},
                 startedAt: {{ .state.running.startedAt | Quote }}, finishedAt: {{ $now | Quote }}}
{{ end }}
""".replace("EXIT", f'or (index (or .metadata.annotations dict) "{EXIT_CODE}") "0"')


def pod_ended(phase, condition, reason, exit_code):
    """The status of a pod whose containers have ended; exit_code is a template expression."""
    return f"""
{{{{ $now := Now }}}}
{{{{ $code := {exit_code} }}}}
phase: {phase}
conditions:
{{{{ range $type := list "ContainersReady" "Ready" }}}}
- {{type: {{{{ $type }}}}, status: "False", reason: {condition},
   lastTransitionTime: {{{{ $now | Quote }}}}}}
{{{{ end }}}}
containerStatuses:
{{{{ range .status.containerStatuses }}}}
- name: {{{{ .name | Quote }}}}
  image: {{{{ .image | Quote }}}}
  containerID: {{{{ .containerID | Quote }}}}
  ready: false
  started: false
  restartCount: {{{{ .restartCount }}}}
  state:
    terminated: {{exitCode: {{{{ $code }}}}, reason: {reason},
                 startedAt: {{{{ .state.running.startedAt | Quote }}}},
                 finishedAt: {{{{ $now | Quote }}}}}}
{{{{ end }}}}
"""


def wants(key, operator, *values):
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


DELETED = wants(".metadata.deletionTimestamp", "Exists")
KEPT = wants(".metadata.deletionTimestamp", "DoesNotExist")
PENDING = wants(".status.phase", "In", "Pending")
RUNNING = wants(".status.phase", "In", "Running")
NOT_RUNNING = wants(".status.phase", "NotIn", "Running")
RESTARTS = (f'.spec.restartPolicy == "Always" or '
            f'(.spec.restartPolicy == "OnFailure" and ({EXIT_CODE_OR_0}) != "0")')


def stage(name, kind, selector, delay=None, **following):
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name},
            "spec": {"resourceRef": {"apiGroup": "v1", "kind": kind},
                     "selector": {"matchExpressions": selector},
                     **({"delay": delay} if delay else {}), "next": following}}


def after(milliseconds, expression):
    """A delay by a jq expression, or of so many milliseconds when it yields nothing."""
    return {"durationMilliseconds": milliseconds, "durationFrom": {"expressionFrom": expression}}


STAGES = [
    stage("node-ready", "Node",
          [wants('.status.conditions.[] | select(.type == "Ready") | .status', "NotIn", "True")],
          statusTemplate=NODE_READY),
    stage("pod-ready", "Pod", [KEPT, PENDING], statusTemplate=POD_READY),
    stage("pod-done", "Pod",
          [KEPT, RUNNING, wants(RESTARTS, "NotIn", "true"), wants(EXIT_CODE_OR_0, "In", "0")],
          after(3000, END_OF_RUN),
          statusTemplate=pod_ended("Succeeded", "PodCompleted", "Completed", "0")),
    stage("pod-failed", "Pod",
          [KEPT, RUNNING, wants(RESTARTS, "NotIn", "true"), wants(EXIT_CODE_OR_0, "NotIn", "0")],
          after(3000, END_OF_RUN),
          statusTemplate=pod_ended("Failed", "PodFailed", "Error",
                                   f'index .metadata.annotations "{EXIT_CODE}"')),
    stage("pod-restarted", "Pod", [KEPT, RUNNING, wants(RESTARTS, "In", "true")],
          after(3000, END_OF_RUN), statusTemplate=POD_RESTARTED),
    stage("pod-killed", "Pod", [DELETED, RUNNING],
          after(0, f'(.metadata.annotations // {{}})["{STOP_SECONDS}"] | select(.) | . + "s"'),
          statusTemplate=pod_ended("Failed", "PodFailed", "Error", "143")),
    stage("pod-deleted", "Pod", [DELETED, NOT_RUNNING], delete=True),
]


def cluster_logs(path):
    """kwok serves the file, in the format of a container runtime, as every container's log."""
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "ClusterLogs",
            "metadata": {"name": "all"}, "spec": {"logs": [{"logsFile": path}]}}


def kwok_config(log_path):
    """The text of a configuration file for kwok."""
    return "\n---\n".join(map(json.dumps, STAGES + [cluster_logs(log_path)]))
