import { hasKey } from '@/lib/server';
import { startApp } from './start';

if (hasKey) startApp();
else location.replace('/login');
