import { pluralText, type McpServer } from '@belay/protocol';
import { Disclosure } from '@/components/ui/disclosure';

interface McpToolsProps {
  server: McpServer;
  disabled: boolean;
  onChange(change: { tools: string[] | null }): void;
}

/** The tools of a server, with a checkbox for each that makes it available to agents. */
export function McpTools({ server: { offered, tools }, disabled, onChange }: McpToolsProps) {
  const isChosen = (name: string) => tools === null || tools.includes(name);
  const choose = (changed: string, on: boolean) => {
    const chosen = offered
      .map(({ name }) => name)
      .filter((name) => (name === changed ? on : isChosen(name)));
    onChange({ tools: chosen.length === offered.length ? null : chosen });
  };
  return (
    <Disclosure title={pluralText(offered.length, 'tool')}>
      <ul className="mt-2 space-y-2">
        {offered.map(({ name, title, description, readOnly }) => (
          <li key={name}>
            <label className="flex items-start gap-2 text-sm">
              <input
                type="checkbox"
                disabled={disabled}
                checked={isChosen(name)}
                onChange={({ target }) => choose(name, target.checked)}
                className="mt-0.5 accent-solid"
              />
              <span className="min-w-0">
                <code className="text-xs">{name}</code>
                {title !== name && <> · {title}</>}
                {readOnly && <span className="text-faint"> · declared read-only</span>}
                <span className="block text-xs break-words text-muted">{description}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}
