import { useState } from 'react';
import type { ModelChoice } from '@belay/protocol';
import { Failed, Loading } from '@/components/ui/empty';
import { Input } from '@/components/ui/field';
import { cx } from '@/lib/classes';

interface ModelPickerProps {
  choices: readonly ModelChoice[] | undefined;
  error: Error | null;
  chosen: readonly string[];
  onChange(chosen: string[]): void;
}

/** The models that can be called now; of the others, what to do for it. */
export function ModelPicker({ choices, error, chosen, onChange }: ModelPickerProps) {
  const [other, setOther] = useState('');
  const toggle = (name: string) =>
    onChange(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]);
  const unknown = chosen.filter((name) => !choices?.some((choice) => choice.name === name));
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">Models</legend>
      {error && <Failed error={error} />}
      {!choices && !error && <Loading what="the models" />}
      <ul className="max-h-64 divide-y overflow-y-auto rounded-md border border-line-strong bg-panel">
        {choices?.map(({ name, title, ready, remedy }) => (
          <li key={name}>
            <label
              className={cx(
                'flex items-start gap-2 px-3 py-1.5',
                ready ? 'cursor-pointer hover:bg-hover' : 'text-muted',
              )}
            >
              <input
                type="checkbox"
                disabled={!ready}
                checked={chosen.includes(name)}
                onChange={() => toggle(name)}
                className="mt-1 accent-[var(--amber)]"
              />
              <span className="min-w-0 flex-1">
                <span className="text-sm">{title}</span>
                {title !== name && (
                  <span className="ml-2 font-mono text-xs text-faint">{name}</span>
                )}
                {!ready && remedy && <span className="block text-xs text-faint">{remedy}</span>}
              </span>
            </label>
          </li>
        ))}
        {unknown.map((name) => (
          <li key={name} className="px-3 py-1.5">
            <label className="flex items-center gap-2 text-sm">
              <input
                type="checkbox"
                checked
                onChange={() => toggle(name)}
                className="accent-[var(--amber)]"
              />
              <span className="font-mono text-xs">{name}</span>
            </label>
          </li>
        ))}
      </ul>
      <Input
        aria-label="Another model"
        placeholder="Another one, as provider:model, then Enter"
        value={other}
        onChange={(event) => setOther(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !other.trim()) return;
          event.preventDefault();
          toggle(other.trim());
          setOther('');
        }}
        className="mt-2 font-mono text-xs"
      />
      <p className="mt-1 text-xs text-faint">Several models: one session for each, side by side.</p>
    </fieldset>
  );
}
