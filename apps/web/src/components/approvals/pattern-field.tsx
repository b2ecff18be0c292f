import type { ComponentProps } from 'react';
import { TextField } from '@/components/ui/field';

/** A field for the pattern of a rule, with a hint on its syntax. */
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
