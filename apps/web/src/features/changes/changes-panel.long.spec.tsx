import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./changes-panel.spec'));
