import type { ReactNode } from 'react';
import { ContextMenu as Context, DropdownMenu } from 'radix-ui';

export interface MenuItem {
  label: string;
  run(): void;
  danger?: boolean;
  disabled?: boolean;
  hint?: string;
}

interface MenuProps {
  trigger: ReactNode;
  /** Called when the menu is rendered, only while it is open. `null` is a separator. */
  items(): readonly (MenuItem | null)[];
}

const box = 'z-50 min-w-44 rounded-md border border-line-strong bg-panel p-1 text-sm';

/** A menu opened by a button. */
export function Menu({ trigger, items }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align="end" sideOffset={4} className={box}>
          <Items items={items} parts={DropdownMenu} />
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** A context menu, opened at the pointer or, by the menu key, at the focused element. */
export function ContextMenu({ trigger, items }: MenuProps) {
  return (
    <Context.Root modal={false}>
      <Context.Trigger asChild>{trigger}</Context.Trigger>
      <Context.Portal>
        <Context.Content className={box}>
          <Items items={items} parts={Context} />
        </Context.Content>
      </Context.Portal>
    </Context.Root>
  );
}

/** Drops a separator that separates nothing: at an end, or beside another one. */
const isNeeded = (item: MenuItem | null, index: number, all: readonly (MenuItem | null)[]) =>
  item !== null || (index > 0 && all[index - 1] !== null && all.slice(index).some(Boolean));

interface ItemsProps extends Pick<MenuProps, 'items'> {
  parts: Pick<typeof DropdownMenu, 'Item' | 'Separator'>;
}

function Items({ items, parts: { Item, Separator } }: ItemsProps) {
  return items()
    .filter(isNeeded)
    .map((item, index) =>
      item ? (
        <Item
          key={item.label}
          disabled={item.disabled ?? false}
          onSelect={item.run}
          className={`flex cursor-pointer items-center justify-between gap-6 rounded-sm px-2 py-1 outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover ${item.danger ? 'text-fail' : ''}`}
        >
          {item.label}
          {item.hint && <span className="text-xs text-faint">{item.hint}</span>}
        </Item>
      ) : (
        <Separator key={`line-${index}`} className="my-1 border-t" />
      ),
    );
}
