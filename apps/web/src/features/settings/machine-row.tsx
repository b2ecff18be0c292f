import { useQueryClient } from '@tanstack/react-query';
import { confinementOf, type Machine } from '@belay/protocol';
import { clsx } from 'clsx';
import { Button } from '@/components/ui/button';
import { attemptConfirmed } from '@/lib/ask';
import { machinesQuery } from '@/lib/queries';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { PlaceLoad } from './place-load';

/** One joined machine: its state, its load, and what an admin can do with it. */
export function MachineRow({ machine, readOnly }: { machine: Machine; readOnly: boolean }) {
  const { name, host, os, arch, kind, labels } = machine;
  return (
    <section aria-label={name} className="rounded-md border bg-panel p-3 text-sm">
      <div className="flex items-start gap-3 max-sm:flex-col max-sm:gap-2">
        <div className="min-w-0 flex-1">
          <p className="flex items-baseline gap-2">
            <span className="min-w-0 truncate font-medium">{name}</span>
            <MachineState machine={machine} />
          </p>
          <p className={clsx('break-words', kind === 'bare' ? 'text-fail' : 'text-muted')}>
            {confinementOf(machine)}
          </p>
          <p className="text-xs break-words text-faint">
            {kind === 'bare' && `${host}, `}
            {os}, {arch}
            {Object.entries(labels).map(([label, value]) => ` · ${label}=${value}`)}
          </p>
        </div>
        {!readOnly && <MachineButtons machine={machine} />}
      </div>
      <PlaceLoad {...machine} />
    </section>
  );
}

function MachineState({ machine: { connected, draining } }: { machine: Machine }) {
  return (
    <span className={clsx('shrink-0', connected ? 'text-pass' : 'text-muted')}>
      {connected ? 'connected' : 'not connected'}
      {draining && <span className="text-muted">, takes no sessions</span>}
    </span>
  );
}

function MachineButtons({ machine: { id, name, draining } }: { machine: Machine }) {
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries(machinesQuery);
  const change = async (drain: boolean) => {
    await client.machines.change(id, { draining: drain });
    await refresh();
  };
  const drain = () =>
    attemptConfirmed(
      {
        title: `Drain ${name}?`,
        text: 'No more sessions begin there. Those that run there start again elsewhere, with the files of their last step; what they are running now ends.',
        verb: 'Drain',
      },
      () => change(true),
    );
  const remove = () =>
    attemptConfirmed(
      {
        title: `Remove ${name}?`,
        text: 'It can no longer connect. Its agents stop, and their sessions fail.',
        verb: 'Remove',
        danger: true,
      },
      async () => {
        await client.machines.remove(id);
        await refresh();
      },
    );
  return (
    <div className="flex shrink-0 gap-2">
      {draining ? (
        <Button small onClick={() => attempt(() => change(false))} aria-label={`Use ${name} again`}>
          Use again
        </Button>
      ) : (
        <Button small onClick={drain} aria-label={`Drain ${name}`}>
          Drain
        </Button>
      )}
      <Button small look="danger" onClick={remove} aria-label={`Remove ${name}`}>
        Remove
      </Button>
    </div>
  );
}
