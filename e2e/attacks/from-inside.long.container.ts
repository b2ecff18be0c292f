import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./from-inside.container.js'));
