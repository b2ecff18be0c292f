import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command as Cmdk } from 'cmdk';
import { Dialog } from 'radix-ui';
import { StateDot } from '@/components/ui/state-dot';
import { sessionsQuery } from '@/lib/summaries';
import { keysOf, openPalette, useCommandList } from '@/lib/commands';
import { matching } from '@/lib/matching';
import { formatKeys } from '@/lib/keys';
import { usePreferences } from '@/lib/preferences';

const item =
  'flex h-8 cursor-pointer items-center justify-between gap-4 rounded-md px-2 text-sm data-[selected=true]:bg-hover';

/** The command palette: searches commands, sessions and files. */
export function Palette() {
  const open = useCommandList((state) => state.palette !== null);
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && openPalette(null)}>
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
  const filesOnly = useCommandList((state) => state.palette === 'files');
  const [text, setText] = useState('');
  const commands = useCommandList((state) => state.commands);
  const keys = usePreferences((state) => state.keys);
  const { data: sessions = [] } = useQuery(sessionsQuery);
  const navigate = useNavigate();
  const groups = Map.groupBy(
    [...commands.values()].filter(({ id }) => id !== 'palette'),
    (command) => command.group,
  );
  const run = (work: () => void) => () => {
    openPalette(null);
    work();
  };
  return (
    <Cmdk label={filesOnly ? 'Files' : 'Commands'} shouldFilter={!filesOnly}>
      <Cmdk.Input
        value={text}
        onValueChange={setText}
        placeholder={
          filesOnly ? 'Type letters of a path' : 'Type a command, a session’s title or a file'
        }
        className="h-11 w-full border-b bg-transparent px-4 outline-none"
      />
      <Cmdk.List className="max-h-[50vh] overflow-y-auto p-2 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-faint">
        <Cmdk.Empty className="p-4 text-center text-sm text-faint">No matches</Cmdk.Empty>
        {(filesOnly || text.length > 1) && <Files text={text} run={run} />}
        {[...(filesOnly ? [] : groups)].map(([group, list]) => (
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
        <Cmdk.Group heading="Sessions" hidden={filesOnly}>
          {(filesOnly ? [] : sessions.slice(0, 200)).map((session) => (
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

interface FilesProps {
  text: string;
  run(work: () => void): () => void;
}

/** The matching files of the current session. */
function Files({ text, run }: FilesProps) {
  const files = useCommandList((state) => state.files);
  const found = files ? matching(files.paths, text.trim(), 12) : [];
  if (!files || found.length === 0) return null;
  return (
    <Cmdk.Group heading="Files">
      {found.map((path) => (
        <Cmdk.Item key={path} value={path} onSelect={run(() => files.open(path))} className={item}>
          <span className="truncate font-mono text-xs">{path}</span>
        </Cmdk.Item>
      ))}
    </Cmdk.Group>
  );
}
