import type { ComponentProps } from 'react';
import { visibleText } from '@belay/protocol';
import { TextField } from '@/components/ui/field';
import { VisibleText } from '@/components/ui/visible-text';

/** A field for the pattern of a rule, with a hint on its syntax. */
export const PatternField = (
  field: Pick<ComponentProps<typeof TextField>, 'label' | 'autoFocus' | 'value' | 'onChange'>,
) => (
  <div className="space-y-1">
    <TextField
      required
      hint="* matches text, but not ; & | < > $ ( ). \* matches a literal *."
      className="font-mono text-xs"
      {...field}
    />
    <HiddenCharacters text={field.value} />
  </div>
);

/** A field shows its text as it is: what would be invisible or reorder it is shown below. */
function HiddenCharacters({ text }: { text: string }) {
  if (visibleText(text) === text) return null;
  return (
    <p role="alert" className="text-xs text-fail">
      The pattern contains invisible characters:{' '}
      <code className="break-all">
        <VisibleText text={text} />
      </code>
    </p>
  );
}
