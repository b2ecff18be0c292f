import { useRef } from 'react';
import { Image, Plus, X } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { IconButton } from '@/components/ui/icon-button';
import { Attachments } from '@/features/chat/composer/attachments';
import { Completions, useCompletions } from '@/features/chat/composer/completions';
import type { useAttachments } from '@/features/chat/composer/use-attachments';

interface TaskFieldsProps {
  value: readonly string[];
  onChange(value: readonly string[]): void;
  /** The paths of the workspace, as far as they are known, which `@` completes. */
  files: readonly string[];
  /** Pictures for every task. */
  attached: ReturnType<typeof useAttachments>;
}

/** One task, or several, each of which becomes its own session. */
export function TaskFields({ value: tasks, onChange, files, attached }: TaskFieldsProps) {
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
            <TaskField
              id={`task-${index}`}
              isLast={index === tasks.length - 1}
              small={several}
              value={task}
              onChange={(next) => onChange(tasks.with(index, next))}
              files={files}
              onPaste={attached.paste}
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

interface TaskFieldProps extends Pick<TaskFieldsProps, 'files'> {
  id: string;
  isLast: boolean;
  small: boolean;
  value: string;
  onChange(value: string): void;
  onPaste: TaskFieldsProps['attached']['paste'];
}

function TaskField({ id, isLast, small, value, onChange, files, onPaste }: TaskFieldProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const completions = useCompletions({ text: value, setText: onChange, field, files });
  return (
    <div className="relative">
      <textarea
        ref={field}
        id={id}
        autoFocus={isLast}
        required
        rows={small ? 3 : 5}
        value={value}
        aria-autocomplete="list"
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={completions.onKeyDown}
        onPaste={onPaste}
        placeholder={`Describe the task and how to tell it’s done${files.length > 0 ? '; @ for files' : ''}`}
        className={`field-sizing-content max-h-[50vh] w-full rounded-md border border-line-strong bg-panel px-3 py-2 text-base ${small ? 'min-h-18' : 'min-h-28'}`}
      />
      <Completions {...completions} below />
    </div>
  );
}
