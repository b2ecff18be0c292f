import { useId, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { ModelChoice } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Input } from '@/components/ui/field';
import { providersQuery } from '@/lib/queries';
import { modelFault, providersOf, type ModelFault } from './model-fault';

interface AddModelProps {
  choices: readonly ModelChoice[];
  onAdd(name: string): void;
}

/** A field for a model that is not listed. Says what is wrong with a name, and what may be meant. */
export function AddModel({ choices, onAdd }: AddModelProps) {
  const [name, setName] = useState('');
  const [fault, setFault] = useState<ModelFault>();
  const { data: named = [] } = useQuery(providersQuery);
  const hintId = useId();
  const providers = providersOf(choices, named);
  const add = (wanted: string) => {
    if (!wanted) return;
    const found = modelFault(wanted, choices, providers);
    setFault(found);
    if (found) return;
    onAdd(wanted);
    setName('');
  };
  return (
    <div className="mt-2 space-y-1">
      <Input
        aria-label="Add a model"
        aria-invalid={fault !== undefined}
        aria-describedby={hintId}
        placeholder="Add a model (provider:model)"
        spellCheck={false}
        value={name}
        onChange={({ target }) => {
          setName(target.value);
          setFault(undefined);
        }}
        onBlur={() => add(name.trim())}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !name.trim()) return;
          event.preventDefault();
          add(name.trim());
        }}
        className="font-mono text-xs"
      />
      {fault ? (
        <p id={hintId} role="alert" className="flex flex-wrap items-center gap-2 text-sm text-fail">
          {fault.text}
          {fault.meant !== undefined && (
            <Button small onClick={() => fault.meant !== undefined && add(fault.meant)}>
              Use {fault.meant}
            </Button>
          )}
        </p>
      ) : (
        <p id={hintId} className="text-xs text-faint">
          Any model of {providers.join(', ')}: write provider:model, then Enter.
        </p>
      )}
    </div>
  );
}
