import { useState } from 'react';
import type { ModelChoice } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { client } from '@/lib/server';
import { say, sayError } from '@/lib/toasts';

/** Makes one short call of a model and tells what came of it. */
export function TryModel({ model: { name, title } }: { model: ModelChoice }) {
  const [trying, setTrying] = useState(false);
  const tryIt = async () => {
    setTrying(true);
    try {
      const { text, seconds } = await client.tryModel(name);
      say(`${title} answered “${text}” after ${seconds.toFixed(1)} s.`);
    } catch (error) {
      sayError(error);
    } finally {
      setTrying(false);
    }
  };
  return (
    <Button small disabled={trying} onClick={() => void tryIt()} aria-label={`Try ${title}`}>
      {trying ? 'Asking…' : 'Try it'}
    </Button>
  );
}
