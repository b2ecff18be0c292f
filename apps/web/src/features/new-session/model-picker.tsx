import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { pluralText, type ModelChoice } from '@belay/protocol';
import { Failed, Loading } from '@/components/ui/empty';
import { AddModel } from './add-model';

interface ModelPickerProps {
  choices: readonly ModelChoice[] | undefined;
  error: Error | null;
  chosen: readonly string[];
  onChange(chosen: string[]): void;
}

/** The available models, a field to add others, and a link to add API keys. */
export function ModelPicker({ choices, error, chosen, onChange }: ModelPickerProps) {
  const toggle = (name: string) =>
    onChange(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]);
  const ready = choices?.filter((choice) => choice.ready) ?? [];
  const unknown = chosen.filter((name) => !ready.some((choice) => choice.name === name));
  const shown = [...ready, ...unknown.map((name) => ({ name, title: name }))];
  const closed = (choices?.length ?? 0) - ready.length;
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">Models</legend>
      {chosen.length > 1 && <ChosenModels names={chosen} onRemove={toggle} />}
      {error && <Failed error={error} />}
      {!choices && !error && <Loading what="the models" />}
      <ul className="max-h-64 divide-y overflow-y-auto rounded-md border border-line-strong bg-panel empty:hidden">
        {shown.map(({ name, title }) => (
          <li key={name}>
            <label className="flex cursor-pointer items-baseline gap-2 px-3 py-1.5 hover:bg-hover">
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={() => toggle(name)}
                className="translate-y-0.5 accent-solid"
              />
              <span className="min-w-0 flex-1 text-sm break-words">
                {title !== name && <span className="mr-2 max-sm:block">{title}</span>}
                <span className="font-mono text-xs break-all text-faint">{name}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
      {(choices ?? error) && (
        <AddModel
          choices={choices ?? []}
          onAdd={(name) => !chosen.includes(name) && onChange([...chosen, name])}
        />
      )}
      <p className="mt-1 text-xs text-faint">
        With several models, each works on the task in a session of its own, and the results are
        compared.
        {closed > 0 && (
          <>
            {' '}
            {pluralText(closed, 'more model needs', 'more models need')} a key:{' '}
            <Link to="/settings" search={{ section: 'models' }} className="underline">
              add one
            </Link>
            .
          </>
        )}
      </p>
    </fieldset>
  );
}

/** All chosen models, including those scrolled out of sight in the list. */
function ChosenModels({
  names,
  onRemove,
}: {
  names: readonly string[];
  onRemove(name: string): void;
}) {
  return (
    <ul aria-label="Chosen models" className="mb-1.5 flex flex-wrap gap-1.5">
      {names.map((name) => (
        <li
          key={name}
          className="flex items-center gap-1 rounded-sm bg-sunken px-1.5 py-0.5 font-mono text-xs"
        >
          {name}
          <button type="button" aria-label={`Remove ${name}`} onClick={() => onRemove(name)}>
            <X size={12} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  );
}
