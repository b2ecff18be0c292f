import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { errorFrom, type GitHost } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Disclosure } from '@/components/ui/disclosure';
import { Field, Input, Select } from '@/components/ui/field';
import { gitHostsQuery } from '@/lib/queries';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import { useSubmit } from '@/lib/use-submit';

interface GitHostFormProps {
  /** A new one when omitted. */
  host?: GitHost;
  onClose(): void;
}

const usualKinds: Readonly<Record<string, GitHost['kind']>> = {
  'github.com': 'github',
  'gitlab.com': 'gitlab',
  'codeberg.org': 'gitea',
  'gitea.com': 'gitea',
};

/** A token is written and never shown again; a wrong one is found when it is saved. */
export function GitHostForm({ host: before, onClose }: GitHostFormProps) {
  const queries = useQueryClient();
  const [host, setHost] = useState(before?.host ?? '');
  const [chosenKind, setKind] = useState(before?.kind);
  const kind = chosenKind ?? usualKinds[host] ?? 'github';
  const [token, setToken] = useState('');
  const [scope, setScope] = useState(before?.scope ?? 'operate');
  const [api, setApi] = useState(before?.api ?? '');
  const [isPrivate, setPrivate] = useState(before?.private ?? false);
  const [insecure, setInsecure] = useState(before?.insecure ?? false);
  const [fault, setFault] = useState<string | null>(null);
  const { saving, onSubmit } = useSubmit(async () => {
    setFault(null);
    await client.git.setHost(host, {
      kind,
      scope,
      api: api.trim() || null,
      private: isPrivate,
      insecure,
      ...(token.trim() && { token: token.trim() }),
    });
    await queries.invalidateQueries(gitHostsQuery);
    const user = token && kind !== 'other' ? await userOf(host) : null;
    if (user instanceof Error) {
      setFault(`It is saved, but: ${user.message}`);
      return 'again';
    }
    toast(user ? `${host} is saved; the token is ${user}’s.` : `${host} is saved.`);
    return onClose();
  });
  return (
    <form onSubmit={onSubmit} className="space-y-3">
      <div className="grid gap-3 sm:grid-cols-2">
        {!before && (
          <Field label="Host">
            <Input
              autoFocus
              required
              spellCheck={false}
              placeholder="github.com"
              value={host}
              onChange={({ target }) => setHost(target.value.trim().toLowerCase())}
            />
          </Field>
        )}
        <Field label="Kind">
          <Select value={kind} onChange={({ target }) => setKind(target.value as GitHost['kind'])}>
            <option value="github">GitHub</option>
            <option value="gitlab">GitLab</option>
            <option value="gitea">Gitea or Forgejo</option>
            <option value="other">Other: push only</option>
          </Select>
        </Field>
        <Field label="Token" hint={hints[kind]}>
          <Input
            type="password"
            autoComplete="off"
            autoFocus={before !== undefined}
            value={token}
            placeholder={before?.token ? 'Enter a new token to replace it' : 'Paste the token'}
            onChange={({ target }) => setToken(target.value)}
          />
        </Field>
        <Field label="Who may use the token">
          <Select
            value={scope}
            onChange={({ target }) => setScope(target.value as GitHost['scope'])}
          >
            <option value="operate">Users who operate sessions</option>
            <option value="admin">Admins only</option>
          </Select>
        </Field>
      </div>
      <Disclosure title="For a host of your own">
        <div className="mt-3 space-y-3">
          <Field label="API address" hint="Leave empty for the default of its kind.">
            <Input
              type="url"
              placeholder={host ? `https://${host}/api/…` : ''}
              value={api}
              onChange={({ target }) => setApi(target.value)}
            />
          </Field>
          <Check checked={isPrivate} onChange={setPrivate}>
            It is on a private network or on this machine
          </Check>
          <Check checked={insecure} onChange={setInsecure}>
            It uses HTTP without TLS
          </Check>
        </div>
      </Disclosure>
      {fault !== null && (
        <p role="alert" className="rounded-md bg-fail-soft px-3 py-2 text-sm">
          {fault}
        </p>
      )}
      <div className="flex gap-2">
        <Button type="submit" small look="solid" disabled={saving}>
          {saving ? 'Checking…' : 'Save'}
        </Button>
        <Button small look="ghost" onClick={onClose}>
          {fault === null ? 'Cancel' : 'Close'}
        </Button>
      </div>
    </form>
  );
}

const hints: Record<GitHost['kind'], string> = {
  github: 'Fine-grained: contents and pull requests, read and write.',
  gitlab: 'Scopes: api, or write_repository to push only.',
  gitea: 'Permissions: repository, read and write.',
  other: 'It is sent as the password over HTTP.',
};

const userOf = (host: string): Promise<string | Error> =>
  client.git.testHost(host).then(
    ({ user }) => user,
    (error: unknown) => errorFrom(error),
  );

interface CheckProps {
  checked: boolean;
  onChange(checked: boolean): void;
  children: string;
}

function Check({ checked, onChange, children }: CheckProps) {
  return (
    <label className="flex items-center gap-2 text-sm">
      <input
        type="checkbox"
        checked={checked}
        onChange={({ target }) => onChange(target.checked)}
        className="accent-[var(--amber)]"
      />
      {children}
    </label>
  );
}
