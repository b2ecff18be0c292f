import { RadioGroup } from 'radix-ui';
import type { Option } from './field';

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly Option<T>[];
  onChange(value: T): void;
}

/** A segmented control: a radio group with its options side by side. */
export function Choice<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  return (
    <RadioGroup.Root
      aria-label={label}
      value={value}
      onValueChange={(next) => onChange(next as T)}
      orientation="horizontal"
      className="inline-flex max-w-full overflow-x-auto rounded-md border border-line-strong bg-sunken p-0.5"
    >
      {options.map((option) => (
        <RadioGroup.Item
          key={option.value}
          value={option.value}
          className="h-6 rounded-sm px-2.5 text-sm whitespace-nowrap text-muted hover:text-ink data-[state=checked]:bg-panel data-[state=checked]:font-medium data-[state=checked]:text-ink dark:data-[state=checked]:bg-line-strong/60 max-sm:px-2"
        >
          {option.label}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}

/** A segmented control below its label, with an optional hint. */
export const ChoiceField = <T extends string>({
  hint,
  ...choice
}: ChoiceProps<T> & { hint?: string }) => (
  <div>
    <p className="mb-1 text-sm font-medium">{choice.label}</p>
    <Choice {...choice} />
    {hint && <p className="mt-1 text-xs text-faint">{hint}</p>}
  </div>
);
