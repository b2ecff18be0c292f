import { useState } from 'react';
import { shellLine, type AgentChoice } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { agentProtocols } from '@/lib/agent-protocols';
import { attemptConfirmed } from '@/lib/ask';
import { client } from '@/lib/server';
import { AgentForm } from './agent-form';

interface CustomAgentRowProps {
  agent: AgentChoice;
  isAdmin: boolean;
  onChange(): Promise<void>;
}

/** An agent that an admin added, with its command. */
export function CustomAgentRow({ agent, isAdmin, onChange }: CustomAgentRowProps) {
  const { name, title, command, protocols, variables } = agent;
  const [editing, setEditing] = useState(false);
  const remove = () => {
    const text = 'New sessions can no longer use it, and sessions with it do not start again.';
    attemptConfirmed(
      { title: `Remove ${title}?`, text, verb: 'Remove', danger: true },
      async () => {
        await client.agents.remove(name);
        await onChange();
      },
    );
  };
  if (editing)
    return (
      <li>
        <AgentForm
          agent={agent}
          onCancel={() => setEditing(false)}
          onSaved={async () => {
            await onChange();
            setEditing(false);
          }}
        />
      </li>
    );
  return (
    <li
      aria-label={title}
      className="flex items-start justify-between gap-4 px-3 py-3 max-sm:flex-col max-sm:gap-2"
    >
      <div className="min-w-0 wrap-anywhere">
        <p className="font-medium">{title}</p>
        <p className="font-mono text-xs text-faint">{shellLine(command)}</p>
        <p className="text-xs text-faint">
          {protocols.map((protocol) => agentProtocols[protocol]).join(', ')}
          {variables.length > 0 && ` · ${variables.join(', ')}`}
        </p>
      </div>
      {isAdmin && (
        <span className="flex shrink-0 gap-2">
          <Button small onClick={() => setEditing(true)} aria-label={`Edit ${title}`}>
            Edit
          </Button>
          <Button small look="danger" onClick={remove} aria-label={`Remove ${title}`}>
            Remove
          </Button>
        </span>
      )}
    </li>
  );
}
