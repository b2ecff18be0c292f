import { bytesText, pluralText, type Example } from '@belay/protocol';
import { FolderUp } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { Choice } from '@/components/ui/choice';
import { Field, Input, optionsOf, Select } from '@/components/ui/field';
import { entriesOf, type SessionForm } from './new-session';

type Workspace = SessionForm['workspace'];

const kinds = optionsOf({
  empty: 'Empty',
  folder: 'My folder',
  repository: 'Git repository',
  example: 'Example',
});

interface WorkspaceFieldProps {
  value: Workspace;
  examples: readonly Example[];
  onChange(value: Workspace): void;
}

/** The files that the agent starts with. */
export function WorkspaceField({ value, examples, onChange }: WorkspaceFieldProps) {
  const choose = (kind: Workspace['kind']) => {
    if (kind === 'folder') onChange({ kind, files: [] });
    else if (kind === 'repository') onChange({ kind, url: '', branch: '' });
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
      {value.kind === 'repository' && <RepositoryFields value={value} onChange={onChange} />}
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

type Repository = Extract<Workspace, { kind: 'repository' }>;

function RepositoryFields({
  value,
  onChange,
}: {
  value: Repository;
  onChange(value: Repository): void;
}) {
  const field = (name: 'url' | 'branch') => ({
    value: value[name],
    spellCheck: false,
    className: 'font-mono text-xs',
    onChange: ({ target }: { target: { value: string } }) =>
      onChange({ ...value, [name]: target.value }),
  });
  return (
    <div className="grid grid-cols-3 gap-4 max-sm:grid-cols-1">
      <Field
        label="Repository"
        className="col-span-2 max-sm:col-span-1"
        hint="The server clones it. Tokens are kept under Settings, Git hosts; no sandbox sees them."
      >
        <Input
          required
          autoFocus
          inputMode="url"
          placeholder="https://github.com/owner/name"
          {...field('url')}
        />
      </Field>
      <Field label="Branch">
        <Input placeholder="the default branch" {...field('branch')} />
      </Field>
    </div>
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
        <FolderUp size={14} aria-hidden />{' '}
        {files.length ? 'Choose another folder' : 'Choose a folder'}
      </Button>
      {files.length > 0
        ? `${files[0]?.webkitRelativePath.split('/')[0] ?? ''}: ${pluralText(packed.length, 'file')}, ${bytesText(size)}`
        : 'Copied into the sandbox; your own files stay unchanged.'}
    </div>
  );
}
