import { useQuery } from '@tanstack/react-query';
import { pluralText } from '@belay/protocol';
import { mcpQuery } from '@/lib/queries';

interface McpFieldProps {
  /** Undefined is all that are on. */
  chosen: readonly string[] | undefined;
  onChange(chosen: string[] | undefined): void;
}

/** Which MCP servers the session is given; nothing where none is connected. */
export function McpField({ chosen, onChange }: McpFieldProps) {
  const { data = [] } = useQuery(mcpQuery);
  const servers = data.filter(({ enabled }) => enabled);
  if (servers.length === 0) return null;
  const isChosen = (name: string) => chosen === undefined || chosen.includes(name);
  const choose = (changed: string, on: boolean) => {
    const names = servers.map(({ name }) => name);
    const next = names.filter((name) => (name === changed ? on : isChosen(name)));
    onChange(next.length === names.length ? undefined : next);
  };
  return (
    <fieldset className="col-span-full">
      <legend className="mb-1 text-sm font-medium">MCP servers</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {servers.map(({ name, state, offered, tools }) => (
          <label key={name} className="flex items-center gap-2 text-sm">
            <input
              type="checkbox"
              checked={isChosen(name)}
              onChange={({ target }) => choose(name, target.checked)}
              className="accent-[var(--amber)]"
            />
            {name}
            <span className={state === 'failed' ? 'text-fail' : 'text-faint'}>
              {state === 'connected'
                ? pluralText((tools ?? offered).length, 'tool')
                : 'not connected'}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
