// Script of pages whose texts can be copied.

import { offerCopies } from './dom.js'

offerCopies()
