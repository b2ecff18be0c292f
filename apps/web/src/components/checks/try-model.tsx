import { elapsedText, type ModelChoice } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import { useBusy } from '@/lib/use-busy';

/** A button that makes a short test call to a model and shows the outcome. */
export function TryModel({ model: { name, title } }: { model: ModelChoice }) {
  const { busy, run } = useBusy();
  const test = async () => {
    const { text, seconds } = await client.models.try({ model: name });
    toast(`${title} answered “${text}” after ${elapsedText(seconds)}.`);
  };
  return (
    <Button small disabled={busy} onClick={() => run(test)} aria-label={`Test ${title}`}>
      {busy ? 'Testing…' : 'Test'}
    </Button>
  );
}
