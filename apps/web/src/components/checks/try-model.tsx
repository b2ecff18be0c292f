import { useState } from 'react';
import { elapsedText, type ModelChoice } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { client } from '@/lib/server';
import { toast, toastError } from '@/lib/toasts';

/** Makes one short model call and shows its outcome. */
export function TryModel({ model: { name, title } }: { model: ModelChoice }) {
  const [trying, setTrying] = useState(false);
  const tryIt = async () => {
    setTrying(true);
    try {
      const { text, seconds } = await client.models.try({ model: name });
      toast(`${title} answered “${text}” after ${elapsedText(seconds)}.`);
    } catch (error) {
      toastError(error);
    } finally {
      setTrying(false);
    }
  };
  return (
    <Button small disabled={trying} onClick={() => void tryIt()} aria-label={`Test ${title}`}>
      {trying ? 'Testing…' : 'Test'}
    </Button>
  );
}
