import { Disclosure } from '@/components/ui/disclosure';
import { Field, Input, TextArea } from '@/components/ui/field';
import { reproductionIn, type TypedReproduction } from './publish-choice';

interface ReproductionFieldsProps {
  typed: TypedReproduction;
  onChange(typed: TypedReproduction): void;
}

/** A test that the server runs again before the push, before the change and with it. */
export function ReproductionFields({ typed, onChange }: ReproductionFieldsProps) {
  const required = reproductionIn(typed) !== null;
  const field = (name: keyof TypedReproduction) => ({
    value: typed[name],
    required,
    spellCheck: false,
    className: 'font-mono text-xs',
    onChange: ({ target: { value } }: { target: { value: string } }) =>
      onChange({ ...typed, [name]: value }),
  });
  return (
    <Disclosure title="Run a test again">
      <div className="mt-3 space-y-3">
        <p className="text-xs text-muted">
          Before the push, the test is run without the change and with it, in sandboxes without a
          network. This takes up to four minutes.
        </p>
        <Field label="Test command">
          <Input placeholder="npm test -- test/a.test.js" maxLength={2_000} {...field('command')} />
        </Field>
        <Field label="Test files" hint="One path a line.">
          <TextArea rows={2} placeholder="test/a.test.js" {...field('files')} />
        </Field>
        <Field
          label="Expected failure"
          hint="What it prints where it fails: the reason, not just “failed”."
        >
          <Input
            placeholder="TypeError: add is not a function"
            minLength={8}
            maxLength={500}
            {...field('expects')}
          />
        </Field>
      </div>
    </Disclosure>
  );
}
