import type { ComponentProps } from 'react';
import { Field, Input } from '@/components/ui/field';

/** The pattern of a rule, with what its signs mean. */
export function PatternField({
  label,
  ...input
}: Pick<ComponentProps<typeof Input>, 'autoFocus' | 'value' | 'onChange'> & { label: string }) {
  return (
    <Field label={label} hint="* matches text, but not ; & | < > $ ( ). \* is a star itself.">
      <Input required className="font-mono text-xs" {...input} />
    </Field>
  );
}
