import type { SessionAgent } from '@belay/protocol';

/** The agent of another vendor that works on a session. */
export function AgentLabel({ agent: { name, version } }: { agent: SessionAgent }) {
  return (
    <span className="whitespace-nowrap" title={`The agent is ${name} ${version}`.trimEnd()}>
      {name}
    </span>
  );
}
