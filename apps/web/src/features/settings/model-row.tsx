import { isPlayedModel, type ModelChoice } from '@belay/protocol';
import { TryModel } from '@/components/checks/try-model';

/**
 * One model, whether it is available, and a button to test it. The forms above say how to set up
 * the others.
 */
export function ModelRow({ model }: { model: ModelChoice }) {
  const { name, title, ready } = model;
  return (
    <li className="flex items-baseline justify-between gap-4 px-3 py-2">
      <div className="min-w-0">
        <p>{title}</p>
        <p className="font-mono text-xs break-all text-faint">{name}</p>
      </div>
      <span className="flex shrink-0 items-center gap-3">
        {ready && !isPlayedModel(name) && <TryModel model={model} />}
        <span className={`text-sm ${ready ? 'text-pass' : 'text-muted'}`}>
          {ready ? 'ready' : 'not set up'}
        </span>
      </span>
    </li>
  );
}
