import { useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ageText, dateTimeText, pluralText, type MadeToken, type TokenInfo } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { CopyText } from '@/components/ui/copy-text';
import { Empty } from '@/components/ui/empty';
import { QueryState } from '@/components/ui/query-state';
import { attemptConfirmed } from '@/lib/ask';
import { client } from '@/lib/server';
import { NewTokenForm } from './new-token-form';
import { scopeTitles } from './scopes';

const tokensKey = ['tokens'];

/** Tokens for programs and other people. The server’s own two tokens are in its data folder. */
export function TokenSettings() {
  const tokens = useQuery({ queryKey: tokensKey, queryFn: () => client.tokens.list() });
  const cache = useQueryClient();
  const [made, setMade] = useState<MadeToken | null>(null);
  const [adding, setAdding] = useState(false);
  const show = async (token: MadeToken) => {
    setMade(token);
    setAdding(false);
    await cache.invalidateQueries({ queryKey: tokensKey });
  };
  const revoke = ({ id, label }: TokenInfo) => {
    const title = `Revoke the token “${label}”?`;
    const text = 'Whatever uses it loses its connection at once. This cannot be undone.';
    const work = async () => {
      await client.tokens.revoke(id);
      if (made?.id === id) setMade(null);
      await cache.invalidateQueries({ queryKey: tokensKey });
    };
    attemptConfirmed({ title, text, verb: 'Revoke token', danger: true }, work, 'Token revoked.');
  };
  const rotate = ({ id, label }: TokenInfo) => {
    const title = `Replace the secret of “${label}”?`;
    const text =
      'The old token stops working at once, and so do logins and links made with it. The new one is shown here.';
    attemptConfirmed({ title, text, verb: 'Replace secret' }, async () =>
      show(await client.tokens.rotate(id)),
    );
  };
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">
        A token lets a program, or somebody else, use this server with the rights that you choose.
        Only its hash is stored, so it is shown only once.
      </p>
      {made && <Made token={made} onClose={() => setMade(null)} />}
      <QueryState query={tokens} what="the tokens" />
      {tokens.data?.length === 0 && !adding && (
        <Empty title="No tokens">Create one for a script, a GPT or a colleague.</Empty>
      )}
      <ul aria-label="Tokens" className="divide-y rounded-md border bg-panel empty:hidden">
        {tokens.data?.map((token) => (
          <TokenLine
            key={token.id}
            token={token}
            onRotate={() => rotate(token)}
            onRevoke={() => revoke(token)}
          />
        ))}
      </ul>
      {adding ? (
        <NewTokenForm onMade={show} onCancel={() => setAdding(false)} />
      ) : (
        <Button onClick={() => setAdding(true)}>Create token</Button>
      )}
    </div>
  );
}

function Made({ token, onClose }: { token: MadeToken; onClose(): void }) {
  return (
    <div role="status" className="space-y-2 rounded-md border border-line-strong bg-panel p-3">
      <p className="text-sm">
        <span className="font-medium">{token.label}</span>: copy this token now. It is not shown
        again.
      </p>
      <CopyText label="Copy token" text={token.token} />
      <Button small onClick={onClose}>
        Done
      </Button>
    </div>
  );
}

interface TokenLineProps {
  token: TokenInfo;
  onRotate(): void;
  onRevoke(): void;
}

function TokenLine({ token, onRotate, onRevoke }: TokenLineProps) {
  const { label, scope, expires, lastUsed } = token;
  const expired = isOver(expires);
  return (
    <li className="flex items-center justify-between gap-x-4 gap-y-2 px-3 py-2 max-sm:flex-wrap">
      <div className="min-w-0">
        <p className="truncate text-sm font-medium">{label}</p>
        <p className="text-xs text-faint">
          {scopeTitles[scope]} · {sessionsOf(token)} ·{' '}
          {lastUsed ? `last used ${ageText(lastUsed)} ago` : 'never used'}
          {expires !== null && (
            <span className={expired ? 'text-fail' : undefined}>
              {' · '}
              {expired ? 'expired' : 'expires'} {dateTimeText(expires)}
            </span>
          )}
        </p>
      </div>
      <div className="flex gap-2">
        <Button small aria-label={`Replace secret of ${label}`} onClick={onRotate}>
          Replace secret
        </Button>
        <Button small look="danger" aria-label={`Revoke ${label}`} onClick={onRevoke}>
          Revoke
        </Button>
      </div>
    </li>
  );
}

const isOver = (expires: string | null, now = Date.now()): boolean =>
  expires !== null && Date.parse(expires) <= now;

function sessionsOf({ sessions }: TokenInfo): string {
  if (sessions === 'all') return 'all sessions';
  if (sessions === 'own') return 'sessions that it starts';
  return sessions.length === 1 ? `session ${sessions[0]}` : pluralText(sessions.length, 'session');
}
