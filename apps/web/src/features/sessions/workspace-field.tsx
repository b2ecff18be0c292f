import type { Example } from '@belay/protocol';
import { FolderUp } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { Choice } from '@/components/ui/choice';
import { Select } from '@/components/ui/field';
import { bytes, plural } from '@/lib/format';
import { entriesOf, type Draft } from './new-session';

type Workspace = Draft['workspace'];

const kinds = [
  { value: 'empty', label: 'Empty' },
  { value: 'folder', label: 'A folder of mine' },
  { value: 'example', label: 'An example' },
] as const;

interface WorkspaceFieldProps {
  value: Workspace;
  examples: readonly Example[];
  onChange(value: Workspace): void;
}

/** The files that the agent starts with. */
export function WorkspaceField({ value, examples, onChange }: WorkspaceFieldProps) {
  const choose = (kind: Workspace['kind']) => {
    if (kind === 'folder') onChange({ kind, files: [] });
    else if (kind === 'example') onChange({ kind, name: examples[0]?.name ?? '' });
    else onChange({ kind });
  };
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1 text-sm font-medium">Workspace</legend>
      <Choice label="Workspace" value={value.kind} options={kinds} onChange={choose} />
      {value.kind === 'folder' && (
        <FolderChoice
          files={value.files}
          onChange={(files) => onChange({ kind: 'folder', files })}
        />
      )}
      {value.kind === 'example' && (
        <Select
          aria-label="Example"
          value={value.name}
          onChange={(event) => onChange({ kind: 'example', name: event.target.value })}
        >
          {examples.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </Select>
      )}
    </fieldset>
  );
}

function FolderChoice({ files, onChange }: { files: File[]; onChange(files: File[]): void }) {
  const choose = () => {
    const input = document.createElement('input');
    input.type = 'file';
    input.webkitdirectory = true;
    input.addEventListener('change', () => onChange([...(input.files ?? [])]));
    input.click();
  };
  const packed = entriesOf(files);
  const size = packed.reduce((sum, entry) => sum + entry.size, 0);
  return (
    <div className="flex flex-wrap items-center gap-3 text-sm text-muted">
      <Button onClick={choose}>
        <FolderUp size={14} aria-hidden /> {files.length ? 'Choose another' : 'Choose a folder'}
      </Button>
      {files.length > 0
        ? `${files[0]?.webkitRelativePath.split('/')[0] ?? ''}: ${plural(packed.length, 'file')}, ${bytes(size)}`
        : 'It is copied into the sandbox; your own files stay as they are.'}
    </div>
  );
}
