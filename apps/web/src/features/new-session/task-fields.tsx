import { Image, Plus, X } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { IconButton } from '@/components/ui/icon-button';
import { Attachments } from '@/features/chat/composer/attachments';
import type { useAttachments } from '@/features/chat/composer/use-attachments';

interface TaskFieldsProps {
  value: readonly string[];
  onChange(value: readonly string[]): void;
  /** Pictures for every task. */
  attached: ReturnType<typeof useAttachments>;
}

/** One task, or several, each of which becomes its own session. */
export function TaskFields({ value: tasks, onChange, attached }: TaskFieldsProps) {
  const several = tasks.length > 1;
  return (
    <div className="space-y-3">
      {tasks.map((task, index) => {
        const label = several ? `Task ${index + 1}` : 'Task';
        return (
          // oxlint-disable-next-line react/no-array-index-key -- a task has no key except its index
          <div key={index}>
            <div className="mb-1 flex h-6 items-center justify-between">
              <label htmlFor={`task-${index}`} className="text-sm font-medium">
                {label}
              </label>
              {several && (
                <IconButton
                  label={`Remove task ${index + 1}`}
                  icon={X}
                  className="size-6"
                  onClick={() => onChange(tasks.toSpliced(index, 1))}
                />
              )}
            </div>
            <textarea
              id={`task-${index}`}
              autoFocus={index === tasks.length - 1}
              required
              rows={several ? 3 : 5}
              value={task}
              onChange={(event) => onChange(tasks.with(index, event.target.value))}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
                event.preventDefault();
                event.currentTarget.form?.requestSubmit();
              }}
              onPaste={(event) => {
                const files = [...event.clipboardData.files];
                if (files.length === 0) return;
                event.preventDefault();
                attached.add(files);
              }}
              placeholder="Describe the task and how to tell it’s done"
              className={`field-sizing-content max-h-[50vh] w-full rounded-md border border-line-strong bg-panel px-3 py-2 text-base ${several ? 'min-h-18' : 'min-h-28'}`}
            />
          </div>
        );
      })}
      <Attachments items={attached.items} onRemove={attached.remove} />
      <div className="flex flex-wrap items-center gap-3">
        <Button small onClick={attached.choose}>
          <Image size={13} aria-hidden /> Attach pictures
        </Button>
        <Button small onClick={() => onChange([...tasks, ''])}>
          <Plus size={13} aria-hidden /> Add task
        </Button>
        <span className="text-xs text-faint">Each task runs in a session of its own.</span>
      </div>
    </div>
  );
}
