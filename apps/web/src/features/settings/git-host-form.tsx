import { useQueryClient } from '@tanstack/react-query';
import { errorFrom, ownValue, type GitHost } from '@belay/protocol';
import { Disclosure } from '@/components/ui/disclosure';
import { CheckField, optionsOf, SelectField, TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { gitHostsQuery } from '@/lib/queries';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import { useForm } from '@/lib/use-form';
import type { Submitted } from '@/lib/use-submit';

interface GitHostFormProps {
  /** Omitted for a new host. */
  host?: GitHost;
  onClose(): void;
}

const newHost = {
  host: '',
  /** Undefined for the usual kind of the host. */
  kind: undefined as GitHost['kind'] | undefined,
  scope: 'operate' as GitHost['scope'],
  private: false,
  insecure: false,
};

/** Tokens can be set but are never shown. Saving tests a new token. */
export function GitHostForm({ host: before, onClose }: GitHostFormProps) {
  const queries = useQueryClient();
  const { values, change, bind } = useForm({
    ...newHost,
    ...before,
    api: before?.api ?? '',
    token: '',
  });
  const { host, scope, insecure } = values;
  const kind = values.kind ?? ownValue(usualKinds, host) ?? 'github';
  const save = async (): Promise<Submitted> => {
    const token = values.token.trim();
    await client.git.setHost(host, {
      kind,
      scope,
      api: values.api.trim() || null,
      private: values.private,
      insecure,
      ...(token && { token }),
    });
    await queries.invalidateQueries(gitHostsQuery);
    const user = token && kind !== 'other' ? await userOf(host) : null;
    if (user instanceof Error) return { warning: `Saved, but the test failed: ${user.message}` };
    toast(user ? `${host} saved; the token belongs to ${user}.` : `${host} saved.`);
    onClose();
  };
  return (
    <Form submit="Save" submitting="Checking…" onSubmit={save} onCancel={onClose}>
      <div className="grid gap-3 sm:grid-cols-2">
        {!before && (
          <TextField
            label="Host"
            autoFocus
            required
            spellCheck={false}
            placeholder="github.com"
            value={host}
            onChange={(text) => change({ host: text.trim().toLowerCase() })}
          />
        )}
        <SelectField
          label="Kind"
          options={optionsOf(gitHostKinds)}
          value={kind}
          onChange={(next) => change({ kind: next })}
        />
        <TextField
          label="Token"
          hint={hints[kind]}
          type="password"
          autoComplete="off"
          autoFocus={before !== undefined}
          placeholder={before?.token ? 'Enter a new token to replace it' : 'Paste the token'}
          {...bind('token')}
        />
        <SelectField label="Who may use the token" options={scopes} {...bind('scope')} />
      </div>
      <Disclosure title="Self-hosted">
        <div className="mt-3 space-y-3">
          <TextField
            label="API address"
            hint="Leave empty for the default of its kind."
            type="url"
            placeholder={host ? `https://${host}/api/…` : ''}
            {...bind('api')}
          />
          <CheckField {...bind('private')}>
            It is on a private network or on this machine
          </CheckField>
          <CheckField {...bind('insecure')}>It uses HTTP without TLS</CheckField>
        </div>
      </Disclosure>
    </Form>
  );
}

export const gitHostKinds: Record<GitHost['kind'], string> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  gitea: 'Gitea or Forgejo',
  other: 'Other: push only',
};

const scopes = optionsOf({ operate: 'Users who operate sessions', admin: 'Admins only' });

const hints: Record<GitHost['kind'], string> = {
  github: 'Fine-grained: contents and pull requests, read and write.',
  gitlab: 'Scopes: api, or write_repository to push only.',
  gitea: 'Permissions: repository, read and write.',
  other: 'Sent as the password over HTTP.',
};

const usualKinds: Readonly<Record<string, GitHost['kind']>> = {
  'github.com': 'github',
  'gitlab.com': 'gitlab',
  'codeberg.org': 'gitea',
  'gitea.com': 'gitea',
};

const userOf = (host: string): Promise<string | Error> =>
  client.git.testHost(host).then(
    ({ user }) => user,
    (error: unknown) => errorFrom(error),
  );
