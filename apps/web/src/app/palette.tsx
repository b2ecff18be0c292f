import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command as Cmdk } from 'cmdk';
import { Dialog } from 'radix-ui';
import type { SessionSummary } from '@belay/protocol';
import { StateDot } from '@/components/ui/state-dot';
import { VisibleText } from '@/components/ui/visible-text';
import { sessionsQuery } from '@/lib/summaries';
import {
  closePalette,
  keysOf,
  offeredCommands,
  useCommandList,
  type PaletteCommand,
} from '@/lib/commands';
import { matching } from '@/lib/matching';
import { formatKeys } from '@/lib/keys';
import { usePreferences } from '@/lib/preferences';
import { paletteItems, type PaletteItem } from './palette-items';

/** The command palette: searches commands, sessions and files. */
export function Palette() {
  const palette = useCommandList((state) => state.palette);
  return (
    <Dialog.Root open={palette !== null} onOpenChange={(next) => !next && closePalette()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-[#00000066]" />
        <Dialog.Content
          aria-describedby={undefined}
          // A command may have moved the focus on.
          onCloseAutoFocus={(event) => event.preventDefault()}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-xl -translate-x-1/2 overflow-hidden rounded-lg border border-line-strong bg-panel"
        >
          <Dialog.Title className="sr-only">Command palette</Dialog.Title>
          {palette === 'files' ? <FileSearch /> : <Search />}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Everything: grouped before the user types, afterwards the best match first. */
function Search() {
  const [text, setText] = useState('');
  // The palette itself takes the focus, so it matters what was offered before it opened.
  const [commands] = useState(() => offeredCommands().filter(({ id }) => id !== 'palette'));
  const paths = useCommandList((state) => state.files?.paths);
  const { data: sessions = [] } = useQuery(sessionsQuery);
  return (
    <Box
      label="Commands"
      placeholder="Type a command, a session’s title or a file"
      text={text}
      onText={setText}
    >
      {text.trim() === '' ? (
        <Grouped commands={commands} sessions={sessions} />
      ) : (
        paletteItems(text, { commands, sessions, paths: paths ?? [] }).map((item) => (
          <Item key={keyOf(item)} item={item} withGroup />
        ))
      )}
    </Box>
  );
}

const maxUntyped = 200;

function Grouped({
  commands,
  sessions,
}: {
  commands: readonly PaletteCommand[];
  sessions: readonly SessionSummary[];
}) {
  const groups = Map.groupBy(commands, (command) => command.group);
  return (
    <>
      {[...groups].map(([group, list]) => (
        <Cmdk.Group key={group} heading={group}>
          {list.map((command) => (
            <Item key={command.id} item={{ kind: 'command', command }} />
          ))}
        </Cmdk.Group>
      ))}
      {sessions.length > 0 && (
        <Cmdk.Group heading="Sessions">
          {sessions.slice(0, maxUntyped).map((session) => (
            <Item key={session.id} item={{ kind: 'session', session }} />
          ))}
        </Cmdk.Group>
      )}
    </>
  );
}

/** Only the files of the current session. */
function FileSearch() {
  const [text, setText] = useState('');
  const paths = useCommandList((state) => state.files?.paths ?? none);
  return (
    <Box label="Files" placeholder="Type letters of a path" text={text} onText={setText}>
      {matching(paths, text.trim(), 12).map((path) => (
        <Item key={path} item={{ kind: 'file', path }} />
      ))}
    </Box>
  );
}

const none: readonly string[] = [];

interface BoxProps {
  label: string;
  placeholder: string;
  text: string;
  onText(text: string): void;
  children: ReactNode;
}

function Box({ label, placeholder, text, onText, children }: BoxProps) {
  return (
    <Cmdk label={label} shouldFilter={false}>
      <Cmdk.Input
        value={text}
        onValueChange={onText}
        placeholder={placeholder}
        className="h-11 w-full border-b bg-transparent px-4 outline-none"
      />
      <Cmdk.List className="max-h-[50vh] overflow-y-auto p-2 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-faint">
        <Cmdk.Empty className="p-4 text-center text-sm text-faint">No matches</Cmdk.Empty>
        {children}
      </Cmdk.List>
    </Cmdk>
  );
}

/** With `withGroup`, says what kind of item it is, for lists without headings. */
function Item({ item, withGroup = false }: { item: PaletteItem; withGroup?: boolean }) {
  const navigate = useNavigate();
  const keys = usePreferences((state) => state.keys);
  const run = () => {
    if (item.kind === 'command') return item.command.run();
    if (item.kind === 'file') return useCommandList.getState().files?.open(item.path);
    void navigate({ to: '/sessions/$id', params: { id: item.session.id } });
  };
  return (
    <Cmdk.Item
      value={keyOf(item)}
      onSelect={() => {
        closePalette();
        run();
      }}
      className="flex h-8 cursor-pointer items-center justify-between gap-4 rounded-md px-2 text-sm data-[selected=true]:bg-hover"
    >
      <span className={item.kind === 'file' ? 'truncate font-mono text-xs' : 'truncate'}>
        <VisibleText text={titleOf(item)} />
      </span>
      <span className="flex shrink-0 items-center gap-3 text-xs text-faint">
        {withGroup && groupOf(item)}
        {item.kind === 'command' && <kbd>{formatKeys(keysOf(item.command, keys))}</kbd>}
        {item.kind === 'session' && <StateDot state={item.session.state} />}
      </span>
    </Cmdk.Item>
  );
}

const keyOf = (item: PaletteItem): string =>
  item.kind === 'command'
    ? `command ${item.command.id}`
    : item.kind === 'session'
      ? `session ${item.session.id}`
      : `file ${item.path}`;

const titleOf = (item: PaletteItem): string =>
  item.kind === 'command'
    ? item.command.title
    : item.kind === 'session'
      ? item.session.title
      : item.path;

const groupOf = (item: PaletteItem): string =>
  item.kind === 'command' ? item.command.group : item.kind === 'session' ? 'Session' : 'File';
