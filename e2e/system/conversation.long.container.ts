import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./conversation.container.js'));
