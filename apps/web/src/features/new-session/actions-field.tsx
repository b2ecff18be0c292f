import { useQuery } from '@tanstack/react-query';
import { permissionSentences } from '@belay/protocol';
import { client } from '@/lib/server';

interface ActionsFieldProps {
  /** Undefined is all that are on. */
  chosen: readonly string[] | undefined;
  onChange(chosen: string[] | undefined): void;
}

/** Which installed actions the session is given; nothing where there are none. */
export function ActionsField({ chosen, onChange }: ActionsFieldProps) {
  const { data = [] } = useQuery({ queryKey: ['actions'], queryFn: () => client.actions.list() });
  const actions = data.filter(({ kind, enabled }) => kind !== 'mcp' && enabled);
  if (actions.length === 0) return null;
  const isChosen = (name: string) => chosen === undefined || chosen.includes(name);
  const choose = (changed: string, on: boolean) => {
    const names = actions.map(({ name }) => name);
    const next = names.filter((name) => (name === changed ? on : isChosen(name)));
    onChange(next.length === names.length ? undefined : next);
  };
  return (
    <fieldset className="col-span-full">
      <legend className="mb-1 text-sm font-medium">Actions</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {actions.map(({ name, manifest }) => (
          <label
            key={name}
            className="flex items-center gap-2 text-sm"
            title={[manifest.description_for_human, ...permissionSentences(manifest)].join(' ')}
          >
            <input
              type="checkbox"
              checked={isChosen(name)}
              onChange={({ target }) => choose(name, target.checked)}
              className="accent-[var(--amber)]"
            />
            {manifest.name_for_human}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
