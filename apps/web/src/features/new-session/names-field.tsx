import type { ReactNode } from 'react';
import { CheckField } from '@/components/ui/field';

/** A choice of names; undefined means all, including those added later. */
export interface ChosenNames {
  value: string[] | undefined;
  onChange(value: string[] | undefined): void;
}

interface NamesFieldProps extends ChosenNames {
  legend: string;
  options: readonly { name: string; label: ReactNode; title?: string }[];
}

/** Renders nothing when there are no options. */
export function NamesField({ legend, options, value, onChange }: NamesFieldProps) {
  if (options.length === 0) return null;
  const isChosen = (name: string) => value === undefined || value.includes(name);
  const choose = (changed: string, on: boolean) => {
    const chosen = options
      .map(({ name }) => name)
      .filter((name) => (name === changed ? on : isChosen(name)));
    onChange(chosen.length === options.length ? undefined : chosen);
  };
  return (
    <fieldset className="col-span-full">
      <legend className="mb-1 text-sm font-medium">{legend}</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {options.map(({ name, label, title }) => (
          <CheckField
            key={name}
            title={title}
            value={isChosen(name)}
            onChange={(on) => choose(name, on)}
          >
            {label}
          </CheckField>
        ))}
      </div>
    </fieldset>
  );
}
