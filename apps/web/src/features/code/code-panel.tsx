import { lazy, Suspense } from 'react';
import { visibleText } from '@belay/protocol';
import { Group, Panel, useDefaultLayout } from 'react-resizable-panels';
import { Crosshair, X } from 'lucide-react';
import { clsx } from 'clsx';
import { Empty, Loading } from '@/components/ui/empty';
import { ResizeHandle } from '@/components/ui/resize-handle';
import { FilesFailed } from '@/features/session-files/files-failed';
import { useFiles } from '@/features/session-files/files-query';
import { useSessionId, useView } from '@/features/session-log/session-context';
import { askConfirm } from '@/lib/ask';
import { intoView } from '@/lib/into-view';
import { usePreferences } from '@/lib/preferences';
import { FileTree } from './file-tree';
import { baseName } from '@/lib/file-tree';
import { unsavedKey, useUnsaved } from './unsaved';
import { useOpenFiles } from './use-open-files';

const FileView = lazy(async () => ({ default: (await import('./file-view')).FileView }));

export function CodePanel() {
  const files = useOpenFiles();
  const saved = useDefaultLayout({ id: 'belay.code', storage: localStorage });
  const listed = useFiles();
  if (listed.isError)
    return <FilesFailed error={listed.error} retry={() => void listed.refetch()} />;
  return (
    <Group {...saved} id="code" orientation="horizontal" className="h-full">
      <Panel id="tree" defaultSize={190} minSize={120} groupResizeBehavior="preserve-pixel-size">
        <FileTree selected={files.shown} onOpen={files.open} onGone={files.leave} />
      </Panel>
      <ResizeHandle label="Resize the file tree" orientation="horizontal" />
      <Panel id="file" minSize={160}>
        <div className="flex h-full flex-col">
          <FileTabs {...files} />
          <div className="min-h-0 flex-1">
            {files.shown ? (
              <Suspense fallback={<Loading what="the editor" />}>
                <FileView path={files.shown} line={files.line} visit={files.visit} />
              </Suspense>
            ) : (
              <NoFile />
            )}
          </div>
        </div>
      </Panel>
    </Group>
  );
}

function NoFile() {
  const any = useView((view) => view.lastEdit !== undefined);
  return (
    <Empty title="No file is open">
      {any
        ? 'Choose one on the left, or turn on Follow to go to each file as the agent edits it.'
        : 'With Follow on, a file opens here as the agent edits it. You can also choose one on the left.'}
    </Empty>
  );
}

function FileTabs({ paths, shown, open, close }: ReturnType<typeof useOpenFiles>) {
  const follow = usePreferences((state) => state.follow);
  const set = usePreferences((state) => state.set);
  return (
    <div className="flex h-8 shrink-0 items-center border-b">
      <div
        role="group"
        aria-label="Open files"
        className="flex h-full min-w-0 flex-1 overflow-x-auto overflow-y-hidden [scrollbar-width:none]"
      >
        {paths.map((path) => (
          <FileTab key={path} path={path} shown={path === shown} open={open} close={close} />
        ))}
      </div>
      <button
        type="button"
        aria-pressed={follow}
        onClick={() => set({ follow: !follow })}
        title="Go to each file as the agent edits it"
        className={clsx(
          'mx-1 inline-flex h-6 items-center gap-1 rounded-sm px-2 text-xs hover:bg-hover',
          follow ? 'font-medium text-ink' : 'text-faint',
        )}
      >
        <Crosshair size={13} aria-hidden /> Follow {follow ? 'on' : 'off'}
      </button>
    </div>
  );
}

interface FileTabProps {
  path: string;
  shown: boolean;
  open(path: string): void;
  close(path: string): void;
}

function FileTab({ path, shown, open, close }: FileTabProps) {
  const key = unsavedKey(useSessionId(), path);
  const unsaved = useUnsaved(({ files }) => files.has(key));
  const name = visibleText(baseName(path));
  const leave = async () => {
    const sure =
      !unsaved ||
      (await askConfirm({
        title: `Close ${name}?`,
        text: 'Your changes to it are not saved.',
        verb: 'Close without saving',
        danger: true,
      }));
    if (!sure) return;
    useUnsaved.getState().set(key, null);
    close(path);
  };
  return (
    <div
      ref={shown ? intoView : undefined}
      className={clsx(
        'flex shrink-0 items-center gap-1 border-r pr-1 pl-3 text-xs',
        shown ? 'bg-panel text-ink' : 'bg-sunken text-muted',
      )}
      onAuxClick={(event) => event.button === 1 && void leave()}
    >
      <button
        type="button"
        aria-pressed={shown}
        title={visibleText(unsaved ? `${path}, not saved` : path)}
        onClick={() => open(path)}
        className="max-w-48 truncate font-mono"
      >
        {name}
      </button>
      {unsaved && (
        <span role="img" aria-label="not saved" className="size-2 rounded-full bg-amber-fill" />
      )}
      <button
        type="button"
        aria-label={`Close ${name}`}
        onClick={() => void leave()}
        className="rounded-sm p-0.5 text-faint hover:bg-hover hover:text-ink"
      >
        <X size={12} aria-hidden />
      </button>
    </div>
  );
}
