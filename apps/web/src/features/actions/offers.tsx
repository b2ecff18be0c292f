import { useState } from 'react';
import { pluralText, type ActionOffer, type FoundActions } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { KindLabel } from './kind-label';

interface OffersProps {
  found: FoundActions;
  onInstall(names: string[]): void;
  onCancel(): void;
}

/** The actions in a repository with their permissions, to choose from before they are installed. */
export function Offers({ found, onInstall, onCancel }: OffersProps) {
  const installable = found.actions.filter(({ state }) => state !== 'same');
  const [left, setLeft] = useState<readonly string[]>([]);
  const chosen = installable.map(({ name }) => name).filter((name) => !left.includes(name));
  const toggle = (name: string) =>
    setLeft(left.includes(name) ? left.filter((one) => one !== name) : [...left, name]);
  return (
    <div className="space-y-3">
      <p className="text-sm break-words text-muted">
        {pluralText(found.actions.length, 'action')} in{' '}
        <span className="font-mono">{found.from}</span>
        {found.commit && (
          <>
            {' '}
            at <span className="font-mono">{found.commit.slice(0, 12)}</span>
          </>
        )}
      </p>
      {found.faults.map(({ folder, fault }) => (
        <p key={folder} className="text-sm break-words text-fail">
          {fault}
        </p>
      ))}
      <ul className="space-y-2">
        {found.actions.map((offer) => (
          <li key={offer.name} className="rounded-md border p-3">
            <Offer
              offer={offer}
              checked={chosen.includes(offer.name)}
              onToggle={() => toggle(offer.name)}
            />
          </li>
        ))}
      </ul>
      <div className="flex gap-2">
        <Button look="solid" disabled={chosen.length === 0} onClick={() => onInstall(chosen)}>
          {installable.some(({ state }) => state === 'other') ? 'Update' : 'Install'}
          {chosen.length > 1 ? ` ${chosen.length}` : ''}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </div>
  );
}

function Offer({
  offer,
  checked,
  onToggle,
}: {
  offer: ActionOffer;
  checked: boolean;
  onToggle(): void;
}) {
  const { name, kind, manifest, state, changes, warnings } = offer;
  const isSame = state === 'same';
  return (
    <div className="space-y-1">
      <label className="flex items-center gap-2">
        <input type="checkbox" checked={checked} disabled={isSame} onChange={onToggle} />
        <span className="font-medium">{manifest.name_for_human}</span>
        <span className="font-mono text-xs text-faint">{name}</span>
        <KindLabel kind={kind} />
        <span className="ml-auto text-xs text-muted">
          {{ new: 'new', other: 'a different version', same: 'up to date' }[state]}
        </span>
      </label>
      <p className="text-sm text-muted">{manifest.description_for_human}</p>
      {warnings.map((warning) => (
        <p key={warning} className="text-xs text-faint">
          {warning}
        </p>
      ))}
      {!isSame && (
        <ul className="text-sm">
          {changes.removed.map((sentence) => (
            <li key={sentence} className="text-faint line-through">
              {sentence}
            </li>
          ))}
          {changes.added.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
          {changes.added.length + changes.removed.length === 0 && (
            <li className="text-muted">Permissions are unchanged.</li>
          )}
        </ul>
      )}
    </div>
  );
}
