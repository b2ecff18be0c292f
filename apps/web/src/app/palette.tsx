import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command as Cmdk } from 'cmdk';
import { Dialog } from 'radix-ui';
import { StateDot } from '@/components/ui/state-dot';
import { sessionsQuery } from '@/features/sessions/queries';
import { keysOf, openPalette, useCommandList } from '@/lib/commands';
import { formatKeys } from '@/lib/keys';
import { usePreferences } from '@/lib/preferences';

const item =
  'flex h-8 cursor-pointer items-center justify-between gap-4 rounded-md px-2 text-sm data-[selected=true]:bg-hover';

/** Everything a person can do from here, and every session, by a few letters. */
export function Palette() {
  const open = useCommandList((state) => state.paletteOpen);
  return (
    <Dialog.Root open={open} onOpenChange={openPalette}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-[#00000066]" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-xl -translate-x-1/2 overflow-hidden rounded-lg border border-line-strong bg-panel"
        >
          <Dialog.Title className="sr-only">Command palette</Dialog.Title>
          <PaletteList />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function PaletteList() {
  const commands = useCommandList((state) => state.commands);
  const keys = usePreferences((state) => state.keys);
  const { data: sessions = [] } = useQuery(sessionsQuery);
  const navigate = useNavigate();
  const groups = Map.groupBy(
    [...commands.values()].filter(({ id }) => id !== 'palette'),
    (command) => command.group,
  );
  const run = (work: () => void) => () => {
    openPalette(false);
    work();
  };
  return (
    <Cmdk label="Commands">
      <Cmdk.Input
        placeholder="What do you want to do?"
        className="h-11 w-full border-b bg-transparent px-4 outline-none"
      />
      <Cmdk.List className="max-h-[50vh] overflow-y-auto p-2 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-faint">
        <Cmdk.Empty className="p-4 text-center text-sm text-faint">
          Nothing is called that.
        </Cmdk.Empty>
        {[...groups].map(([group, list]) => (
          <Cmdk.Group key={group} heading={group}>
            {list.map((command) => (
              <Cmdk.Item
                key={command.id}
                value={`${command.title} ${command.id}`}
                onSelect={run(command.run)}
                className={item}
              >
                {command.title}
                <kbd className="text-xs text-faint">{formatKeys(keysOf(command, keys))}</kbd>
              </Cmdk.Item>
            ))}
          </Cmdk.Group>
        ))}
        <Cmdk.Group heading="Sessions">
          {sessions.slice(0, 200).map((session) => (
            <Cmdk.Item
              key={session.id}
              value={`${session.title} ${session.id}`}
              onSelect={run(
                () => void navigate({ to: '/sessions/$id', params: { id: session.id } }),
              )}
              className={item}
            >
              <span className="truncate">{session.title}</span>
              <StateDot state={session.state} />
            </Cmdk.Item>
          ))}
        </Cmdk.Group>
      </Cmdk.List>
    </Cmdk>
  );
}
