import { bytesText, pluralText, type AgentChoice } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Meter } from '@/components/ui/meter';
import { attemptConfirmed } from '@/lib/ask';
import { whoseModels } from '@/lib/whose-models';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';

interface AgentRowProps {
  agent: AgentChoice;
  isAdmin: boolean;
  onChange(): Promise<void>;
}

/** An agent that can be installed: what it is, its version, and how far an install is. */
export function AgentRow({ agent, isAdmin, onChange }: AgentRowProps) {
  const { title, about, formats, licence, error, state } = agent;
  return (
    <li aria-label={title} className="space-y-2 px-3 py-3">
      <div className="flex items-start justify-between gap-4 max-sm:flex-col max-sm:gap-2">
        <div className="min-w-0">
          <p className="flex flex-wrap items-baseline gap-x-2">
            <span className="font-medium">{title}</span>
            <Version agent={agent} />
            {agent.login === 'kept' && (
              <span className="text-xs text-muted">You are signed in</span>
            )}
          </p>
          <p className="text-sm text-muted">{about}</p>
          <p className="text-xs text-faint">
            For {whoseModels(formats)}
            {licence && (
              <>
                {' · '}
                <a
                  href={licence.url}
                  target="_blank"
                  rel="noreferrer"
                  className="whitespace-nowrap underline"
                >
                  {licence.spdx ?? 'Proprietary licence'}
                </a>
              </>
            )}
          </p>
        </div>
        <span className="flex shrink-0 gap-2">
          {agent.login === 'kept' && <LogOut agent={agent} onChange={onChange} />}
          {isAdmin && state !== 'installing' && <Buttons agent={agent} onChange={onChange} />}
        </span>
      </div>
      {state === 'installing' && <Progress agent={agent} />}
      {error !== null && (
        <p role="alert" className="text-sm break-words text-fail">
          {error}
        </p>
      )}
    </li>
  );
}

function Version({ agent: { version, newest } }: { agent: AgentChoice }) {
  if (version === null) return <span className="text-xs text-faint">{newest}</span>;
  return (
    <>
      <span className="text-xs text-pass">Installed {version}</span>
      {version !== newest && <span className="text-xs text-amber">{newest} available</span>}
    </>
  );
}

function Progress({ agent: { title, bytes } }: { agent: AgentChoice }) {
  const { done, total } = bytes;
  return (
    <div className="space-y-1">
      <Meter label={`Download of ${title}`} value={done} max={total} plain />
      <p className="text-xs text-faint">
        {done < total ? `${bytesText(done)} of ${bytesText(total)}` : 'Unpacking…'}
      </p>
    </div>
  );
}

/** Removes the caller's own sign-in. */
const LogOut = ({ agent: { name, title }, onChange }: Omit<AgentRowProps, 'isAdmin'>) => (
  <Button
    small
    aria-label={`Log out of ${title}`}
    onClick={() =>
      attemptConfirmed(
        {
          title: `Log out of ${title}?`,
          text: 'Your sign-in is removed, with the settings and conversations in that home. You can sign in again in a new session.',
          verb: 'Log out',
          danger: true,
        },
        async () => {
          await client.agents.logout(name);
          await onChange();
        },
      )
    }
  >
    Log out
  </Button>
);

function Buttons({ agent, onChange }: Omit<AgentRowProps, 'isAdmin'>) {
  const { name, title, version, newest, licence } = agent;
  const begin = async (): Promise<void> => {
    await client.agents.install(name, { accept: true });
    await onChange();
  };
  const install = () =>
    licence?.spdx === null && version === null
      ? attemptConfirmed(
          {
            title: `Install ${title}?`,
            text: `Its licence is proprietary. By installing it you accept the terms of its vendor: ${licence.url}`,
            verb: 'Accept and install',
          },
          begin,
        )
      : attempt(begin);
  return (
    <>
      {version !== newest && (
        <Button small onClick={install} aria-label={`${version ? 'Update' : 'Install'} ${title}`}>
          {version ? 'Update' : 'Install'}
        </Button>
      )}
      {version !== null && (
        <Button
          small
          look="danger"
          onClick={() => remove(agent, onChange)}
          aria-label={`Remove ${title}`}
        >
          Remove
        </Button>
      )}
    </>
  );
}

const remove = ({ name, title, sessions }: AgentChoice, onChange: () => Promise<void>) =>
  attemptConfirmed(
    {
      title: `Remove ${title}?`,
      text:
        sessions > 0
          ? `New sessions can no longer use it. Its files stay until ${pluralText(sessions, 'session')} with it are deleted.`
          : 'New sessions can no longer use it. You can install it again at any time.',
      verb: 'Remove',
      danger: true,
    },
    async () => {
      await client.agents.remove(name);
      await onChange();
    },
  );
