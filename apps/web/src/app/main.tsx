import { hasKey } from '@/lib/server';
import { startApp } from './start-app';

if (hasKey) startApp();
else location.replace('/login');
