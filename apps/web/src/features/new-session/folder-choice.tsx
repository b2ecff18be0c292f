import { useEffect, useRef, useState } from 'react';
import { bytesText, numberText, pluralText, visibleText } from '@belay/protocol';
import { FolderUp, History } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { Disclosure } from '@/components/ui/disclosure';
import { VisibleText } from '@/components/ui/visible-text';
import { VirtualList } from '@/components/ui/virtual-list';
import { attempt } from '@/lib/toasts';
import { chosenFiles, type ChosenFolder } from './chosen-folder';
import { mayRead, pickDirectory, pickFiles } from './directory-picker';
import { folderOfFiles, folderOfHandle, type PickedFolder } from './picked-folder';
import { rememberedFolder, rememberFolder } from './remembered-folder';
import { planUpload } from './upload-plan';

interface FolderChoiceProps {
  value: ChosenFolder | null;
  onChange(value: ChosenFolder): void;
}

/** Chooses a folder of the user’s machine, and shows what of it is sent before it is. */
export function FolderChoice({ value, onChange }: FolderChoiceProps) {
  const [found, setFound] = useState<number>();
  const [last, setLast] = useState<FileSystemDirectoryHandle>();
  useEffect(() => void rememberedFolder().then(setLast), []);
  const signal = useUnmounted();
  const read = async (folder: PickedFolder) => {
    setFound(0);
    try {
      const plan = await planUpload(folder, { onProgress: setFound, signal: signal() });
      signal().throwIfAborted();
      onChange({ plan, withoutSecrets: false });
    } catch (error) {
      // Another workspace was chosen meanwhile.
      if (!signal().aborted) throw error;
    } finally {
      setFound(undefined);
    }
  };
  const readHandle = async (handle: FileSystemDirectoryHandle) => {
    await rememberFolder(handle);
    await read(folderOfHandle(handle));
  };
  const choose = () => {
    const { showDirectoryPicker } = window;
    if (!showDirectoryPicker)
      return pickFiles((files) => attempt(() => read(folderOfFiles(files))));
    attempt(async () => {
      const handle = await pickDirectory(showDirectoryPicker);
      if (handle) await readHandle(handle);
    });
  };
  return (
    <div className="space-y-2 text-sm">
      <div className="flex flex-wrap items-center gap-3 text-muted">
        <Button onClick={choose} disabled={found !== undefined}>
          <FolderUp size={14} aria-hidden /> {value ? 'Choose another folder' : 'Choose a folder'}
        </Button>
        {last && !value && found === undefined && (
          <Button onClick={() => attempt(async () => (await mayRead(last)) && readHandle(last))}>
            <History size={14} aria-hidden />
            <span>
              Use <VisibleText text={last.name} /> again
            </span>
          </Button>
        )}
        <span role="status">
          {found !== undefined
            ? `Reading the folder: ${pluralText(found, 'file')}…`
            : value
              ? sizeOf(value)
              : 'Copied into the sandbox; your own files stay unchanged.'}
        </span>
      </div>
      {value && <FolderContents value={value} onChange={onChange} />}
    </div>
  );
}

/** A signal that aborts when the component is removed. */
function useUnmounted(): () => AbortSignal {
  const mount = useRef(new AbortController());
  useEffect(() => {
    const controller = new AbortController();
    mount.current = controller;
    return () => controller.abort();
  }, []);
  return () => mount.current.signal;
}

function sizeOf({ plan, ...choice }: ChosenFolder): string {
  const files = chosenFiles({ plan, ...choice });
  const history = plan.history.length > 0 ? ', with its git history' : '';
  return `${visibleText(plan.name)}: ${pluralText(files.length, 'file')}, ${bytesText(bytesOf(files))}${history}`;
}

const bytesOf = (files: readonly { content: Blob }[]): number =>
  files.reduce((sum, { content }) => sum + content.size, 0);

function FolderContents({
  value,
  onChange,
}: {
  value: ChosenFolder;
  onChange(value: ChosenFolder): void;
}) {
  const { plan } = value;
  const files = chosenFiles(value).map(({ path }) => path);
  return (
    <>
      <SecretsWarning value={value} onChange={onChange} />
      {plan.notes.length > 0 && (
        <ul className="text-muted">
          {plan.notes.slice(0, 5).map((note) => (
            <li key={note}>
              <VisibleText text={note} />
            </li>
          ))}
          {plan.notes.length > 5 && <li>and {plan.notes.length - 5} more like these.</li>}
        </ul>
      )}
      <Disclosure title={`Sent: ${pluralText(files.length, 'file')}`}>
        <div className="pl-4">
          <PathList label="Files that are sent" paths={files} />
        </div>
      </Disclosure>
      {plan.ignored.length > 0 && (
        <Disclosure title={`Left out because git ignores them: ${numberText(plan.ignored.length)}`}>
          <div className="pl-4">
            <PathList label="Ignored files and folders" paths={plan.ignored} />
          </div>
        </Disclosure>
      )}
    </>
  );
}

/** Files that look like secrets are sent unless the user leaves them out. */
function SecretsWarning({
  value,
  onChange,
}: {
  value: ChosenFolder;
  onChange(value: ChosenFolder): void;
}) {
  const { secrets } = value.plan;
  if (secrets.length === 0) return null;
  const { withoutSecrets } = value;
  return (
    <div role="alert" className="rounded-md border border-fail p-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p>
          {pluralText(secrets.length, 'file looks', 'files look')} like secrets.{' '}
          {!withoutSecrets
            ? 'The agent and its model can read them.'
            : value.plan.history.length > 0
              ? 'They are left out; the git history may still contain them.'
              : 'They are left out.'}
        </p>
        <Button small onClick={() => onChange({ ...value, withoutSecrets: !withoutSecrets })}>
          {withoutSecrets ? 'Send them' : 'Leave them out'}
        </Button>
      </div>
      <PathList
        label="Files that look like secrets"
        paths={secrets.map(({ path, what }) => `${path} (${what})`)}
      />
    </div>
  );
}

function PathList({ label, paths }: { label: string; paths: readonly string[] }) {
  return (
    <VirtualList
      label={label}
      items={paths}
      keyOf={itself}
      estimate={20}
      className="mt-1 max-h-40 overflow-auto font-mono text-xs"
      render={(path) => (
        <span className="block leading-5 break-all">
          <VisibleText text={path} />
        </span>
      )}
    />
  );
}

const itself = (path: string) => path;
