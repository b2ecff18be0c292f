import type { Example } from '@belay/protocol';
import { Choice } from '@/components/ui/choice';
import { optionsOf, Select, TextField } from '@/components/ui/field';
import { formState } from '@/lib/use-form';
import { FolderChoice } from './folder-choice';
import type { SessionForm } from './session-form';

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

/** The files the agent starts with. */
export function WorkspaceField({ value, examples, onChange }: WorkspaceFieldProps) {
  const choose = (kind: Workspace['kind']) => {
    if (kind === 'folder') onChange({ kind, folder: null });
    else if (kind === 'repository') onChange({ kind, url: '', branch: '', commit: '' });
    else if (kind === 'example') onChange({ kind, name: examples[0]?.name ?? '' });
    else onChange({ kind });
  };
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1 text-sm font-medium">Workspace</legend>
      <Choice label="Workspace" value={value.kind} options={kinds} onChange={choose} />
      {value.kind === 'folder' && (
        <FolderChoice
          value={value.folder}
          onChange={(folder) => onChange({ kind: 'folder', folder })}
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

interface RepositoryFieldsProps {
  value: Repository;
  onChange(value: Repository): void;
}

function RepositoryFields({ value, onChange }: RepositoryFieldsProps) {
  const { bind } = formState<Pick<Repository, 'url' | 'branch' | 'commit'>>(value, (part) =>
    onChange({ ...value, ...part }),
  );
  return (
    <div className="grid grid-cols-[2fr_1fr_1fr] gap-4 max-sm:grid-cols-1">
      <TextField
        label="Repository"
        hint="The server clones it. Tokens are kept under Settings → Git hosts; no sandbox sees them."
        required
        autoFocus
        inputMode="url"
        spellCheck={false}
        className="font-mono text-xs"
        placeholder="https://github.com/owner/name"
        {...bind('url')}
      />
      <TextField
        label="Branch"
        spellCheck={false}
        className="font-mono text-xs"
        placeholder="the default branch"
        {...bind('branch')}
      />
      <TextField
        label="Commit"
        pattern="\s*[0-9a-f]{40}\s*"
        title="The whole id: 40 hexadecimal digits in lowercase"
        spellCheck={false}
        className="font-mono text-xs"
        placeholder="the latest"
        {...bind('commit')}
      />
    </div>
  );
}
