import { shellLine, type AgentChoice } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { agentProtocols } from '@/lib/agent-protocols';
import { attemptConfirmed } from '@/lib/ask';
import { client } from '@/lib/server';

interface CustomAgentRowProps {
  agent: AgentChoice;
  isAdmin: boolean;
  onChange(): Promise<void>;
}

/** An agent that an admin added, with its command. */
export function CustomAgentRow({ agent, isAdmin, onChange }: CustomAgentRowProps) {
  const { name, title, command, protocols, variables } = agent;
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
  return (
    <li aria-label={title} className="flex items-start justify-between gap-4 px-3 py-3">
      <div className="min-w-0">
        <p className="font-medium">{title}</p>
        <p className="font-mono text-xs break-all text-faint">{shellLine(command)}</p>
        <p className="text-xs text-faint">
          {protocols.map((protocol) => agentProtocols[protocol]).join(', ')}
          {variables.length > 0 && ` · ${variables.join(', ')}`}
        </p>
      </div>
      {isAdmin && (
        <Button small look="danger" onClick={remove} aria-label={`Remove ${title}`}>
          Remove
        </Button>
      )}
    </li>
  );
}
