import type { ComponentProps } from 'react';
import { TextField } from '@/components/ui/field';

/** The pattern of a rule, with what its signs mean. */
export const PatternField = (
  field: Pick<ComponentProps<typeof TextField>, 'label' | 'autoFocus' | 'value' | 'onChange'>,
) => (
  <TextField
    required
    hint="* matches text, but not ; & | < > $ ( ). \* matches a literal *."
    className="font-mono text-xs"
    {...field}
  />
);
