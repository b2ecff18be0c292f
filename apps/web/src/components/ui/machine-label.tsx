import type { SessionMachine } from '@belay/protocol';

/** The machine on which a session runs, outside the server’s sandboxes. */
export function MachineLabel({ machine: { name, kind } }: { machine: SessionMachine }) {
  if (kind === 'container')
    return <span title={`Runs in a container on the machine ${name}`}>container on {name}</span>;
  return (
    <span className="text-fail" title={`Runs on the machine ${name} itself: nothing is confined`}>
      ⚠ bare on {name}
    </span>
  );
}
