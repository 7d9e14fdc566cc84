/** Former name of `quick-start.js`, which units and scripts of operators may still load. */
import './quick-start.js'
