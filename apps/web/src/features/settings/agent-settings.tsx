import { useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { AgentChoice } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { QueryState } from '@/components/ui/query-state';
import { agentsQuery } from '@/lib/queries';
import { useAdmin } from '@/lib/role';
import { AgentForm } from './agent-form';
import { AgentRow } from './agent-row';
import { CustomAgentRow } from './custom-agent-row';

/** While one is installed, its progress is looked up more often. */
const installingMs = 400;
const idleMs = 10_000;

/** Agents of other vendors that sessions can use instead of Belay's own. */
export function AgentSettings() {
  const isAdmin = useAdmin();
  const queries = useQueryClient();
  const agents = useQuery({
    ...agentsQuery,
    refetchInterval: ({ state }) =>
      state.data?.some((agent) => agent.state === 'installing') ? installingMs : idleMs,
  });
  const refresh = () => queries.invalidateQueries(agentsQuery);
  const known = agents.data ?? [];
  const installable = known.filter(({ kind }) => kind === 'installable');
  const custom = known.filter(({ kind }) => kind === 'custom');
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">
        Use an agent that you know in Belay’s sandboxes. It runs unmodified and without keys: its
        model calls go through Belay, which counts them and asks you about its calls. Belay comes
        with none of them. The server installs the versions that were checked for this release from
        your npm registry, and runs none of their install scripts.
      </p>
      <QueryState query={agents} what="the agents" />
      <ul className="divide-y rounded-md border bg-panel empty:hidden">
        {installable.map((agent) => (
          <AgentRow key={agent.name} agent={agent} isAdmin={isAdmin} onChange={refresh} />
        ))}
      </ul>
      {agents.data && (
        <OwnAgents
          agents={custom}
          taken={known.map(({ name }) => name)}
          isAdmin={isAdmin}
          onChange={refresh}
        />
      )}
    </div>
  );
}

interface OwnAgentsProps {
  agents: readonly AgentChoice[];
  /** The names of all agents. */
  taken: readonly string[];
  isAdmin: boolean;
  onChange(): Promise<void>;
}

function OwnAgents({ agents, taken, isAdmin, onChange }: OwnAgentsProps) {
  const [adding, setAdding] = useState(false);
  return (
    <>
      <h2 className="pt-2 font-medium">Your own</h2>
      <p className="text-sm text-muted">
        Any other command-line agent that is in the image of a session, over the Agent Client
        Protocol or in a terminal.
      </p>
      <ul className="divide-y rounded-md border bg-panel empty:hidden">
        {agents.map((agent) => (
          <CustomAgentRow key={agent.name} agent={agent} isAdmin={isAdmin} onChange={onChange} />
        ))}
      </ul>
      {adding && (
        <AgentForm
          agent={null}
          taken={taken}
          onCancel={() => setAdding(false)}
          onSaved={async () => {
            await onChange();
            setAdding(false);
          }}
        />
      )}
      {isAdmin && !adding && <Button onClick={() => setAdding(true)}>Add agent</Button>}
    </>
  );
}
