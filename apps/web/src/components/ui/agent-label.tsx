import type { SessionAgent } from '@belay/protocol';

/** The agent of another vendor that works on a session. */
export function AgentLabel({ agent: { name, version, login } }: { agent: SessionAgent }) {
  return (
    <span className="whitespace-nowrap" title={`The agent is ${name} ${version}`.trimEnd()}>
      {name}
      {login !== undefined && (
        <span
          className="text-amber"
          title="This sandbox holds a credential, and Belay sees, counts and holds nothing of what the agent sends"
        >
          {' '}
          ⚠<span className="max-md:sr-only"> signed in</span>
        </span>
      )}
    </span>
  );
}
