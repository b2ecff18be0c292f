import type { V1Pod } from '@kubernetes/client-node';

/** The `Sandbox` of kubernetes-sigs/agent-sandbox, whose controller makes a pod of the same name, and makes it again when it is deleted. */
export const agentSandbox = {
  group: 'agents.x-k8s.io',
  version: 'v1beta1',
  plural: 'sandboxes',
  kind: 'Sandbox',
} as const;

export const agentSandboxVersion = `${agentSandbox.group}/${agentSandbox.version}`;

/** The object for a pod. Unlike one that is made from a template, it brings no network policy, which would add up with ours. */
export function agentSandboxOf({ metadata, spec }: V1Pod) {
  const { name, labels, annotations } = metadata ?? {};
  return {
    apiVersion: agentSandboxVersion,
    kind: agentSandbox.kind,
    metadata: { name, labels },
    spec: { podTemplate: { metadata: { labels, annotations }, spec } },
  };
}
