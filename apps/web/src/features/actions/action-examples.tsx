import type { InstalledAction } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { useReadOnly } from '@/lib/role';
import { useActionCall } from './use-action-call';

type Example = InstalledAction['manifest']['examples'][number];

/** The example inputs of an action, each with a button to try it. */
export function ActionExamples({ name, examples }: { name: string; examples: Example[] }) {
  return (
    <ul className="space-y-2">
      {examples.map((example, index) => (
        <li key={`${index} ${example.title}`} className="rounded-md border bg-panel p-3">
          <Try name={name} example={example} />
        </li>
      ))}
    </ul>
  );
}

function Try({ name, example }: { name: string; example: Example }) {
  const readOnly = useReadOnly();
  const { running, run, result } = useActionCall(name);
  const title = example.title ?? 'Example';
  return (
    <div className="space-y-2">
      <div className="flex items-center justify-between gap-3">
        <span className="min-w-0 truncate text-sm font-medium">{title}</span>
        {!readOnly && (
          <Button
            small
            disabled={running}
            onClick={() => void run(example.input)}
            aria-label={`Try ${title}`}
          >
            {running ? 'Running…' : 'Try'}
          </Button>
        )}
      </div>
      <pre className="overflow-x-auto rounded-md bg-hover p-2 font-mono text-xs whitespace-pre-wrap">
        {JSON.stringify(example.input, null, 2)}
      </pre>
      {result}
    </div>
  );
}
