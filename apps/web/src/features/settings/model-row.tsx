import { useState } from 'react';
import type { ModelChoice } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { client } from '@/lib/server';
import { say, sayError } from '@/lib/toasts';

/** One model, whether it can be called, and a button that tries it. */
export function ModelRow({ model: { name, title, ready, remedy } }: { model: ModelChoice }) {
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
  const played = /^(scripted|cassette):/.test(name);
  return (
    <li className="flex items-baseline justify-between gap-4 px-3 py-2">
      <div className="min-w-0">
        <p>{title}</p>
        <p className="font-mono text-xs break-all text-faint">{name}</p>
        {!ready && remedy && <p className="mt-1 text-sm text-muted">{remedy}</p>}
      </div>
      <span className="flex shrink-0 items-center gap-3">
        {ready && !played && (
          <Button small disabled={trying} onClick={() => void tryIt()} aria-label={`Try ${title}`}>
            {trying ? 'Asking…' : 'Try it'}
          </Button>
        )}
        <span className={`text-sm ${ready ? 'text-pass' : 'text-muted'}`}>
          {ready ? 'ready' : 'not ready'}
        </span>
      </span>
    </li>
  );
}
